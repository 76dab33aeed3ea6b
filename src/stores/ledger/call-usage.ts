import type { AnySql, TransactionSql } from '../../database/database.ts';
import { advance, viewOf, type Advance, type KeptEntry, type Meter } from './call-meter.ts';
import type { Basis, CallMeter, CallUsage, CallUsageAnswer, UsageTotals } from './contract.ts';
import { rolledUp, withSession } from './roll-ups.ts';

const NOTHING: UsageTotals = { tokens: 0, microDollars: 0 };

interface MeterRow extends Omit<Meter, 'tokens' | 'measured' | 'estimated' | 'reported'> {
  readonly textIn: number;
  readonly textCached: number;
  readonly textOut: number;
  readonly audioIn: number;
  readonly audioCached: number;
  readonly audioOut: number;
  readonly imageIn: number;
  readonly imageCached: number;
  /** numeric comes as text. */
  readonly measured: string;
  readonly estimated: string;
  readonly reported: string;
}

interface TotalsRow extends UsageTotals {
  readonly keyTokens: number | null;
  readonly keyMicroDollars: number | null;
}

/**
 * Counts usage of a call in the caller's transaction. Its meter is locked first, so that whoever counts for the call waits; then the
 * totals and what is rolled up, in the order in which reports lock them.
 */
export async function recordCallUsage(sql: TransactionSql, usage: CallUsage): Promise<CallUsageAnswer> {
  const meter = (await lockMeter(sql, usage)) ?? (await makeMeter(sql, usage));
  // Only whoever holds the meter writes entries of the call, and this statement began after it was locked.
  const step = advance(meter, usage, await findEntries(sql, usage));
  const [row] = await (step === undefined ? readTotals(sql, usage) : write(sql, usage, step));
  const totals = row ?? { ...NOTHING, keyTokens: null, keyMicroDollars: null };
  return {
    kind: step === undefined ? 'replayed' : 'counted',
    added: step?.added ?? NOTHING,
    totals: { tokens: totals.tokens, microDollars: totals.microDollars },
    keyTotals:
      usage.keyAccount === null ? null : { tokens: totals.keyTokens ?? 0, microDollars: totals.keyMicroDollars ?? 0 },
    meter: viewOf(step?.meter ?? meter),
  };
}

export async function readMeters(sql: AnySql, callIds: readonly string[]): Promise<CallMeter[]> {
  const rows = await sql<MeterRow[]>`select ${columns(sql)} from call_meter where call_id = any(${callIds}::text[])`;
  return rows.map((row) => viewOf(meterOf(row)));
}

async function lockMeter(sql: TransactionSql, { callId }: CallUsage): Promise<Meter | undefined> {
  const [row] = await sql<MeterRow[]>`select ${columns(sql)} from call_meter where call_id = ${callId} for update`;
  return row === undefined ? undefined : meterOf(row);
}

/** Of two nodes that make it at once the second waits for the first. */
async function makeMeter(sql: TransactionSql, usage: CallUsage): Promise<Meter> {
  const { callId, basis, atMs } = usage;
  await sql`
    insert into call_meter (call_id, basis, since_ms) values (${callId}, ${basis}, ${atMs})
    on conflict (call_id) do nothing`;
  const made = await lockMeter(sql, usage);
  if (made === undefined) throw new Error("a call's meter was deleted while it was made");
  return made;
}

function columns(sql: AnySql) {
  return sql`call_id as "callId", basis, text_in as "textIn", text_cached as "textCached", text_out as "textOut",
    audio_in as "audioIn", audio_cached as "audioCached", audio_out as "audioOut", image_in as "imageIn",
    image_cached as "imageCached", pico_measured as measured, pico_estimated as estimated, pico_reported as reported,
    micro_dollars as "microDollars", total_ms as "totalMs", gap_ms as "gapMs"`;
}

function meterOf(row: MeterRow): Meter {
  const { callId, basis, microDollars, totalMs, gapMs, measured, estimated, reported, ...tokens } = row;
  return {
    callId,
    basis,
    microDollars,
    totalMs,
    gapMs,
    tokens,
    measured: BigInt(measured),
    estimated: BigInt(estimated),
    reported: BigInt(reported),
  };
}

async function findEntries(sql: TransactionSql, { callId, key }: CallUsage): Promise<KeptEntry[]> {
  const rows = await sql<{ readonly basis: Basis; readonly picoDollars: string; readonly tokens: number }[]>`
    select basis, pico_dollars as "picoDollars", tokens from usage_entry
    where call_id = ${callId} and idempotency_key = ${key}`;
  return rows.map((row) => ({ ...row, picoDollars: BigInt(row.picoDollars) }));
}

function write(sql: TransactionSql, usage: CallUsage, { meter, added, picoDollars }: Advance) {
  const { subject, day, keyAccount, key, model, priceVersion, basis, isEstimated, atMs, tenantId, sessionId } = usage;
  const accounts = keyAccount === null ? [subject] : [subject, keyAccount];
  const { tokens } = meter;
  return sql<TotalsRow[]>`
    with totals as (
      insert into usage_total as total (subject, day, tokens, micro_dollars)
      select account, ${day}, ${added.tokens}::bigint, ${added.microDollars}::bigint
      from unnest(${accounts}::text[]) as given (account) order by account collate "C"
      on conflict (subject, day) do update set
        tokens = total.tokens + excluded.tokens, micro_dollars = total.micro_dollars + excluded.micro_dollars
      returning subject, tokens, micro_dollars
    ), counted as materialized (
      select own.tokens, own.micro_dollars, of_key.tokens as key_tokens, of_key.micro_dollars as key_micro_dollars,
        session.key_id, session.agent_id
      from totals as own left join totals as of_key on of_key.subject = ${keyAccount}::text
      ${withSession(sql, sql`${sessionId}::text`)}
      where own.subject = ${subject}
    ), moved as (
      update call_meter set basis = ${meter.basis}, text_in = ${tokens.textIn}, text_cached = ${tokens.textCached},
        text_out = ${tokens.textOut}, audio_in = ${tokens.audioIn}, audio_cached = ${tokens.audioCached},
        audio_out = ${tokens.audioOut}, image_in = ${tokens.imageIn}, image_cached = ${tokens.imageCached},
        pico_measured = ${String(meter.measured)}::numeric, pico_estimated = ${String(meter.estimated)}::numeric,
        pico_reported = ${String(meter.reported)}::numeric, micro_dollars = ${meter.microDollars},
        total_ms = ${meter.totalMs}, gap_ms = ${meter.gapMs}
      where call_id = ${meter.callId}
    ), written as (
      insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tenant_id, session_id, idempotency_key,
        tokens_after, micro_dollars_after, key_tokens_after, key_micro_dollars_after,
        call_id, basis, model, price_version, estimated, pico_dollars, key_id, agent_id)
      select ${subject}, ${day}, ${atMs}::bigint, ${added.tokens}::bigint, ${added.microDollars}::bigint, ${tenantId}, ${sessionId},
        ${key}, tokens, micro_dollars, key_tokens, key_micro_dollars,
        ${meter.callId}, ${basis}, ${model}, ${priceVersion}, ${isEstimated}::boolean, ${String(picoDollars)}::numeric,
        key_id, agent_id
      from counted
    ), ${rolledUp(
      sql,
      sql`
        select ${day}::text collate "C" as day, ${atMs}::bigint as at_ms, ${subject}::text as subject, ${tenantId}::text as tenant_id,
          key_id, agent_id, ${added.tokens}::bigint as tokens, ${added.microDollars}::bigint as micro_dollars
        from counted`,
    )}
    select tokens, micro_dollars as "microDollars", key_tokens as "keyTokens", key_micro_dollars as "keyMicroDollars"
    from counted`;
}

function readTotals(sql: TransactionSql, { subject, day, keyAccount }: CallUsage) {
  return sql<TotalsRow[]>`
    select coalesce(own.tokens, 0) as tokens, coalesce(own.micro_dollars, 0) as "microDollars",
      of_key.tokens as "keyTokens", of_key.micro_dollars as "keyMicroDollars"
    from (select ${subject}::text as subject, ${keyAccount}::text as account, ${day}::text as day) as asked
    left join usage_total as own on own.subject = asked.subject and own.day = asked.day
    left join usage_total as of_key on of_key.subject = asked.account and of_key.day = asked.day`;
}
