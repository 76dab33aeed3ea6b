import type { TransactionSql } from '../../database/database.ts';
import { sql, type Statements } from '../../database/statements.ts';
import { advance, viewOf, type Advance, type KeptEntry, type Meter } from './call-meter.ts';
import {
  NOTHING_USED,
  type Basis,
  type CallMeter,
  type CallUsage,
  type CallUsageAnswer,
  type UsageTotals,
} from './contract.ts';
import { TOKEN_CLASSES, type TokenClasses } from '../../protocol/price.ts';
import { lowered } from '../holds/postgres.ts';
import { writeUsageEvents } from '../webhooks/outbox.ts';
import { rolledUp, withSession } from './sums.ts';

interface MeterRow extends Omit<Meter, 'tokens' | 'measured' | 'estimated' | 'reported'>, TokenClasses {
  /** PostgreSQL's numeric arrives as text. */
  readonly measured: string;
  readonly estimated: string;
  readonly reported: string;
}

/** An account's total on a day. */
interface TotalRow extends UsageTotals {
  readonly account: string;
  readonly day: string;
}

/** How a usage was counted, and the totals right after it. */
type CountedUsage = Pick<CallUsageAnswer, 'kind' | 'added' | 'totals' | 'keyTotals' | 'tenantTotals'> & {
  readonly usage: CallUsage;
  readonly step: Advance | undefined;
  readonly meter: Meter;
};

/**
 * Counts usage of calls in the caller's transaction, in the given order; each is answered as if it had come alone. Meters are locked first, so that
 * others who count for one of the calls wait; then the totals and roll-ups, in the order in which reports lock them; holds last.
 */
export async function recordCallUsages(
  sql: TransactionSql,
  usages: readonly CallUsage[],
): Promise<readonly CallUsageAnswer[]> {
  const meters = await lockMeters(sql, usages);
  // Entries of a call are only written under its meter's lock, and this statement began after the lock was taken.
  const steps = advanceAll(usages, meters, await findEntries(sql, usages));
  const counted = withTotals(steps, await addToTotals(sql, steps));
  const written = counted.filter(({ step }) => step !== undefined);
  if (written.length > 0) await write(sql, written);
  return counted.map(({ kind, added, totals, keyTotals, tenantTotals, meter }) => {
    return { kind, added, totals, keyTotals, tenantTotals, meter: viewOf(meter) };
  });
}

type Step = Pick<CountedUsage, 'usage' | 'step' | 'meter'>;

/** What each usage does to its call's meter, given those before it. */
function advanceAll(
  usages: readonly CallUsage[],
  meters: ReadonlyMap<string, Meter>,
  entries: ReadonlyMap<string, readonly KeptEntry[]>,
): Step[] {
  const present = new Map(meters);
  const kept = new Map(entries);
  return usages.map((usage) => {
    const { callId, basis } = usage;
    const meter = present.get(callId);
    if (meter === undefined) throw new Error("a call's meter was deleted while it was made");
    const name = entryName(usage);
    const known = kept.get(name) ?? [];
    const step = advance(meter, usage, known);
    if (step === undefined) return { usage, step, meter };
    present.set(callId, step.meter);
    kept.set(name, [...known, { basis, picoDollars: step.picoDollars, tokens: step.added.tokens }]);
    return { usage, step, meter: step.meter };
  });
}

function entryName({ callId, key }: Pick<CallUsage, 'callId' | 'key'>): string {
  return `${callId} ${key}`;
}

/** The totals right after each usage, worked out backwards from the totals after all of them. */
function withTotals(steps: readonly Step[], rows: readonly TotalRow[]): CountedUsage[] {
  const running = new Map(
    rows.map(({ account, day, tokens, microDollars }) => [`${day} ${account}`, { tokens, microDollars }]),
  );
  const after = (account: string, { day }: CallUsage, added: UsageTotals): UsageTotals => {
    const name = `${day} ${account}`;
    const totals = running.get(name) ?? NOTHING_USED;
    running.set(name, {
      tokens: totals.tokens - added.tokens,
      microDollars: totals.microDollars - added.microDollars,
    });
    return totals;
  };
  const last = steps.toReversed().map(({ usage, step, meter }): CountedUsage => {
    const added = step?.added ?? NOTHING_USED;
    const totals = after(usage.subject, usage, added);
    const keyTotals = usage.keyAccount === null ? null : after(usage.keyAccount, usage, added);
    const tenantTotals = usage.tenantAccount === null ? null : after(usage.tenantAccount, usage, added);
    const kind = step === undefined ? 'replayed' : 'counted';
    return { usage, step, meter, kind, added, totals, keyTotals, tenantTotals };
  });
  return last.toReversed();
}

export async function readMeters({ query }: Statements, callIds: readonly string[]): Promise<CallMeter[]> {
  const rows = await query<MeterRow>`select ${columns} from call_meter where call_id = any(${callIds}::text[])`;
  return rows.map((row) => viewOf(meterOf(row)));
}

/** If two nodes create a meter at once, the second waits for the first. */
async function lockMeters(sql: TransactionSql, usages: readonly CallUsage[]): Promise<Map<string, Meter>> {
  const first = new Map(usages.toReversed().map((usage) => [usage.callId, usage]));
  const locked = await lockKnownMeters(sql, [...first.keys()]);
  const missing = [...first.values()].filter(({ callId }) => !locked.has(callId));
  if (missing.length === 0) return locked;
  await sql`
    insert into call_meter (call_id, basis, since_ms)
    select * from unnest(${missing.map(({ callId }) => callId)}::text[], ${missing.map(({ basis }) => basis)}::text[],
      ${missing.map(({ atMs }) => atMs)}::bigint[]) as made (call_id, basis, since_ms)
    order by call_id collate "C" on conflict (call_id) do nothing`;
  return lockKnownMeters(sql, [...first.keys()]);
}

async function lockKnownMeters(sql: TransactionSql, callIds: readonly string[]): Promise<Map<string, Meter>> {
  const rows = await sql<MeterRow[]>`
    select ${columns} from call_meter where call_id = any(${callIds}::text[]) order by call_id for update`;
  return new Map(rows.map((row) => [row.callId, meterOf(row)]));
}

const columns = sql`
  call_id, basis, text_in, text_cached, text_out, audio_in, audio_cached, audio_out, image_in, image_cached,
  pico_measured as measured, pico_estimated as estimated, pico_reported as reported, micro_dollars, total_ms, gap_ms`;

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

interface EntryRow {
  readonly callId: string;
  readonly key: string;
  readonly basis: Basis;
  readonly picoDollars: string;
  readonly tokens: number;
}

async function findEntries(sql: TransactionSql, usages: readonly CallUsage[]): Promise<Map<string, KeptEntry[]>> {
  const rows = await sql<EntryRow[]>`
    select asked.*, entry.basis, entry.pico_dollars, entry.tokens
    from (
      select distinct "callId", key from unnest(${usages.map(({ callId }) => callId)}::text[],
        ${usages.map(({ key }) => key)}::text[]) as given ("callId", key)
    ) as asked
    cross join lateral (
      select basis, pico_dollars, tokens from usage_entry where call_id = asked."callId" and idempotency_key = asked.key offset 0
    ) as entry`;
  const entries = new Map<string, KeptEntry[]>();
  for (const { picoDollars, basis, tokens, ...row } of rows) {
    const name = entryName(row);
    entries.set(name, [...(entries.get(name) ?? []), { basis, tokens, picoDollars: BigInt(picoDollars) }]);
  }
  return entries;
}

/** @returns the totals after all additions, including totals to which nothing is added */
function addToTotals(sql: TransactionSql, steps: readonly Step[]) {
  const rows = steps.flatMap(({ usage: { subject, keyAccount, tenantAccount, day }, step }) =>
    [subject, keyAccount, tenantAccount].flatMap((account) =>
      account === null ? [] : [{ account, day, ...(step?.added ?? NOTHING_USED) }],
    ),
  );
  return sql<TotalRow[]>`
    insert into usage_total as total (subject, day, tokens, micro_dollars)
    select account, day, sum(tokens), sum(micro_dollars)
    from unnest(${rows.map(({ account }) => account)}::text[], ${rows.map(({ day }) => day)}::text[],
      ${rows.map(({ tokens }) => tokens)}::bigint[], ${rows.map(({ microDollars }) => microDollars)}::bigint[])
      as given (account, day, tokens, micro_dollars)
    group by account, day order by account collate "C", day collate "C"
    on conflict (subject, day) do update set
      tokens = total.tokens + excluded.tokens, micro_dollars = total.micro_dollars + excluded.micro_dollars
    returning subject as account, day, tokens, micro_dollars`;
}

/** Writes the meters as they are now, the entries, and what follows from them. */
async function write(sql: TransactionSql, counted: readonly CountedUsage[]): Promise<void> {
  const meters = [...new Map(counted.map(({ meter }) => [meter.callId, meter])).values()];
  await sql`
    with moved as (
      update call_meter as kept set basis = given.basis, text_in = "textIn", text_cached = "textCached", text_out = "textOut",
        audio_in = "audioIn", audio_cached = "audioCached", audio_out = "audioOut", image_in = "imageIn",
        image_cached = "imageCached", pico_measured = measured, pico_estimated = estimated, pico_reported = reported,
        micro_dollars = "microDollars", total_ms = "totalMs", gap_ms = "gapMs"
      from json_to_recordset(${JSON.stringify(meters.map(flatMeter))}::text::json) as given ("callId" text collate "C", basis text,
        "textIn" bigint, "textCached" bigint, "textOut" bigint, "audioIn" bigint, "audioCached" bigint, "audioOut" bigint,
        "imageIn" bigint, "imageCached" bigint, measured numeric, estimated numeric, reported numeric, "microDollars" bigint,
        "totalMs" bigint, "gapMs" bigint)
      where kept.call_id = given."callId" and kept.call_id = any(${meters.map(({ callId }) => callId)}::text[])
    ), counted as materialized (
      select given.*, session.key_id, session.agent_id
      from json_to_recordset(${JSON.stringify(counted.map(flatEntry))}::text::json) as given (n integer, subject text collate "C",
        day text collate "C", "atMs" bigint, tokens bigint, "microDollars" bigint, "tenantId" text, "sessionId" text collate "C",
        key text, "tokensAfter" bigint, "microDollarsAfter" bigint, "keyTokensAfter" bigint, "keyMicroDollarsAfter" bigint,
        "tenantTokensAfter" bigint, "tenantMicroDollarsAfter" bigint,
        "callId" text, basis text, model text, "priceVersion" text, "isEstimated" boolean, "picoDollars" numeric, classes bigint[])
      ${withSession(sql`given."sessionId"`)}
    ), written as (
      insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tenant_id, session_id, idempotency_key,
        tokens_after, micro_dollars_after, key_tokens_after, key_micro_dollars_after, tenant_tokens_after,
        tenant_micro_dollars_after, call_id, basis, model, price_version, estimated, pico_dollars, classes, key_id, agent_id)
      select subject, day, "atMs", tokens, "microDollars", "tenantId", "sessionId", key,
        "tokensAfter", "microDollarsAfter", "keyTokensAfter", "keyMicroDollarsAfter", "tenantTokensAfter",
        "tenantMicroDollarsAfter", "callId", basis, model, "priceVersion", "isEstimated", "picoDollars", classes, key_id, agent_id
      from counted order by n
    ), ${rolledUp}, ${lowered(sql`select "sessionId" as session_id, tokens, "microDollars" as micro_dollars from counted`)},
    ${writeUsageEvents(
      sql`
        'callRef', fact."callId", 'model', fact.model, 'basis', fact.basis, 'isEstimated', fact."isEstimated",
        'priceVersion', fact."priceVersion"`,
    )}
    select 1`;
}

function flatMeter({ tokens, measured, estimated, reported, ...meter }: Meter) {
  const exact = { measured: String(measured), estimated: String(estimated), reported: String(reported) };
  return { ...meter, ...tokens, ...exact };
}

function flatEntry({ usage, step, added, totals, keyTotals, tenantTotals }: CountedUsage, n: number) {
  const { subject, day, atMs, tenantId, sessionId, key, callId, basis, model, priceVersion, isEstimated, tokens } =
    usage;
  return {
    n,
    ...added,
    subject,
    day,
    atMs,
    tenantId,
    sessionId,
    key,
    callId,
    basis,
    priceVersion,
    isEstimated,
    // JSON cannot hold half of a surrogate pair, which a page may have put into a name.
    model: model.toWellFormed(),
    tokensAfter: totals.tokens,
    microDollarsAfter: totals.microDollars,
    keyTokensAfter: keyTotals?.tokens,
    keyMicroDollarsAfter: keyTotals?.microDollars,
    tenantTokensAfter: tenantTotals?.tokens,
    tenantMicroDollarsAfter: tenantTotals?.microDollars,
    picoDollars: String(step?.picoDollars ?? 0n),
    classes: basis === 'events' ? TOKEN_CLASSES.map((name) => tokens[name]) : null,
  };
}
