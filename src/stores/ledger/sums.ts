import { sql, type Fragment } from '../../database/statements.ts';
import { thisNode } from '../../node/this-node.ts';
import type { TransactionSql } from '../../database/database.ts';
import { addTotals, NOTHING_USED, type UsageEntry, type UsageTotals } from './contract.ts';

/** Joins the key and agent of a session to the rows that name it; null if there is none. An index finds each session. */
export function withSession(sessionId: Fragment): Fragment {
  return sql`
    left join lateral (
      select key_id, agent_id from voice_session where id = ${sessionId} offset 0
    ) as session on true`;
}

/**
 * Part of a statement that writes entries (`counted`, see `writeUsageEvents`): adds them to the sums of hours and days. To avoid deadlocks, totals are
 * locked first, then days, then hours, each in a fixed order: days wait for whatever `counted` reads, which must be all totals, and hours wait for the
 * days.
 */
export const rolledUp = sql`
  used as materialized (
    select day, "atMs" - "atMs" % 3600000 as hour_ms, subject collate "C" as subject,
      coalesce("tenantId", '') collate "C" as tenant_id, coalesce(key_id, '') collate "C" as key_id,
      coalesce(agent_id, '') collate "C" as agent_id, tokens, "microDollars" as micro_dollars
    from counted where tokens <> 0 or "microDollars" <> 0
  ), by_day as (
    insert into usage_day as kept (day, subject, tenant_id, key_id, agent_id, tokens, micro_dollars)
    select day, subject, tenant_id, key_id, agent_id, sum(tokens), sum(micro_dollars) from used
    group by day, subject, tenant_id, key_id, agent_id order by day, subject, tenant_id, key_id, agent_id
    on conflict (day, subject, tenant_id, key_id, agent_id) do update set
      tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars
    returning 1
  ), by_hour as (
    insert into usage_hour as kept (hour_ms, tenant_id, key_id, agent_id, shard, tokens, micro_dollars)
    select hour_ms, tenant_id, key_id, agent_id, ${thisNode.shard}::smallint, sum(tokens), sum(micro_dollars)
    from used cross join (select count(*) from by_day) as after_days
    group by hour_ms, tenant_id, key_id, agent_id order by hour_ms, tenant_id, key_id, agent_id
    on conflict (hour_ms, tenant_id, key_id, agent_id, shard) do update set
      tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars
  )`;

/** An entry of a session for which clients may only report up to a bound. */
interface BoundedEntry extends UsageEntry {
  readonly sessionId: string;
  readonly sessionAtMost: UsageTotals;
}

export function isBounded(entry: UsageEntry): entry is BoundedEntry {
  return entry.sessionId !== null && entry.sessionAtMost !== null;
}

/**
 * Indexes of the entries that would raise their session's sum above its bound. The sums stay locked until the transaction ends, so that reports on
 * other nodes wait. A repeat is never included: it adds nothing.
 */
export async function findImplausible(
  sql: TransactionSql,
  entries: readonly UsageEntry[],
  keyMemoryMs: number,
): Promise<ReadonlySet<number>> {
  const bounded = entries.filter(isBounded);
  const sums = await holdSums(sql, bounded);
  const known = await findKeys(sql, bounded, keyMemoryMs);
  const implausible = new Set<number>();
  for (const [n, entry] of entries.entries()) {
    if (!isBounded(entry)) continue;
    const name = entryName(entry);
    if (name !== undefined && known.has(name)) continue;
    const sum = addTotals(sums.get(entry.sessionId) ?? NOTHING_USED, entry);
    if (sum.tokens > entry.sessionAtMost.tokens || sum.microDollars > entry.sessionAtMost.microDollars)
      implausible.add(n);
    else {
      sums.set(entry.sessionId, sum);
      if (name !== undefined) known.add(name);
    }
  }
  return implausible;
}

/** Adds counted entries to the sums that `findImplausible` has locked. */
export async function addToSums(sql: TransactionSql, counted: readonly UsageEntry[]): Promise<void> {
  const added = new Map<string, UsageTotals>();
  for (const entry of counted.filter(isBounded))
    added.set(entry.sessionId, addTotals(added.get(entry.sessionId) ?? NOTHING_USED, entry));
  if (added.size === 0) return;
  const sums = [...added.values()];
  await sql`
    update usage_session as kept set tokens = kept.tokens + added.tokens, micro_dollars = kept.micro_dollars + added.micro_dollars
    from unnest(${[...added.keys()]}::text[], ${sums.map(({ tokens }) => tokens)}::bigint[],
      ${sums.map(({ microDollars }) => microDollars)}::bigint[]) as added (session_id, tokens, micro_dollars)
    where kept.session_id = added.session_id`;
}

/** Locks the sums in the order of their sessions, to avoid deadlocks; a session's first report creates its sum. */
async function holdSums(sql: TransactionSql, bounded: readonly BoundedEntry[]): Promise<Map<string, UsageTotals>> {
  const sinceMs = new Map(bounded.map(({ sessionId, atMs }) => [sessionId, atMs]));
  const rows = await sql<(UsageTotals & { readonly sessionId: string })[]>`
    insert into usage_session as kept (session_id, tokens, micro_dollars, since_ms)
    select id, 0, 0, since from unnest(${[...sinceMs.keys()]}::text[], ${[...sinceMs.values()]}::bigint[]) as given (id, since)
    order by id collate "C"
    on conflict (session_id) do update set tokens = kept.tokens
    returning session_id, tokens, micro_dollars`;
  return new Map(rows.map(({ sessionId, tokens, microDollars }) => [sessionId, { tokens, microDollars }]));
}

/** Which of the entries' keys are stored already: a key can be added only under the lock of its session's sum. */
async function findKeys(
  sql: TransactionSql,
  bounded: readonly BoundedEntry[],
  keyMemoryMs: number,
): Promise<Set<string>> {
  const keyed = bounded.filter(({ idempotency }) => idempotency !== null);
  if (keyed.length === 0) return new Set();
  const rows = await sql<{ readonly sessionId: string; readonly key: string }[]>`
    select kept.subject as "sessionId", idempotency_key as key
    from unnest(${keyed.map(({ sessionId }) => sessionId)}::text[], ${keyed.map(({ idempotency }) => idempotency?.key ?? '')}::text[],
      ${keyed.map(({ atMs }) => atMs)}::bigint[]) as asked (session_id, key, at_ms)
    join usage_key as kept on kept.subject = asked.session_id and kept.idempotency_key = asked.key
    where kept.at_ms > asked.at_ms - ${keyMemoryMs}::bigint`;
  return new Set(rows.map(({ sessionId, key }) => `${sessionId} ${key}`));
}

function entryName({ sessionId, idempotency }: BoundedEntry): string | undefined {
  return idempotency === null ? undefined : `${sessionId} ${idempotency.key}`;
}
