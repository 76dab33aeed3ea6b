import type { AnySql, Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { grouped } from '../../kernel/async.ts';
import { readMeters, recordCallUsages } from './call-usage.ts';
import type { CallUsage, Ledger, LedgerAnswer, UsageEntry, UsageTotals } from './contract.ts';
import { rolledUp, withSession, addToSums, findImplausible, isBounded } from './sums.ts';
import { writeUsageEvents } from '../webhooks/outbox.ts';

/** How long an idempotency key is remembered (docs/contract.md, section 5.8). */
const KEY_MEMORY_MS = 24 * HOUR_MS;

/** The limit for calls: one transaction of several statements records them all, and must be done within the deadline of one statement. */
const MAX_CALL_ENTRIES = 200;

interface Totals extends UsageTotals {
  /** Index in the group of entries. */
  readonly n: number;
  readonly day: string;
  /** Null for an entry without a widget key. */
  readonly keyTokens: number | null;
  readonly keyMicroDollars: number | null;
  readonly tenantTokens: number | null;
  readonly tenantMicroDollars: number | null;
}

type Account = Pick<UsageEntry, 'subject' | 'day'>;

interface KeptReport extends Totals {
  readonly bodyHash: string;
}

/** The usage ledger in PostgreSQL: reports that arrive together are committed together, and reads are grouped too. */
export function createPostgresLedger(database: Database): Ledger {
  const statements = statementsOf(database);
  const totals = grouped(
    (asked: readonly Account[]) => statements.query<UsageTotals>`
      select coalesce(tokens, 0) as tokens, coalesce(micro_dollars, 0) as "microDollars"
      from unnest(${asked.map(({ subject }) => subject)}::text[], ${asked.map(({ day }) => day)}::text[])
        with ordinality as asked (subject, day, n)
      left join usage_total on usage_total.subject = asked.subject and usage_total.day = asked.day
      order by n`,
  );
  return {
    record: grouped((entries: readonly UsageEntry[]) =>
      entries.some(isBounded) ? recordBounded(database, entries) : database.run((sql) => recordAll(sql, entries)),
    ),

    totals: (subject, day) => totals({ subject, day }),

    recordCall: grouped(
      (usages: readonly CallUsage[]) => database.transaction((sql) => recordCallUsages(sql, usages)),
      MAX_CALL_ENTRIES,
    ),

    metersOf: (callIds) => readMeters(statements, callIds),
  };
}

function recordBounded(database: Database, entries: readonly UsageEntry[]): Promise<LedgerAnswer[]> {
  return database.transaction(async (sql) => {
    const implausible = await findImplausible(sql, entries, KEY_MEMORY_MS);
    const others = entries.filter((_, n) => !implausible.has(n));
    const answers = others.length === 0 ? [] : await recordAll(sql, others);
    await addToSums(
      sql,
      others.filter((_, n) => answers[n]?.kind === 'counted'),
    );
    const inOrder = answers.values();
    return entries.map((_, n) =>
      implausible.has(n) ? { kind: 'implausible' } : (inOrder.next().value as LedgerAnswer),
    );
  });
}

async function recordAll(sql: AnySql, entries: readonly UsageEntry[]): Promise<LedgerAnswer[]> {
  const flat = entries.map(({ idempotency, ...entry }, n) => ({
    n,
    ...entry,
    scope: entry.sessionId ?? entry.subject,
    ...idempotency,
  }));
  const answers = new Map<number, LedgerAnswer>();
  for (const row of await count(sql, JSON.stringify(flat))) answers.set(row.n, answerOf('counted', row));
  // A key that was not free belongs to a report that is committed by now: only a later statement sees it.
  const rest = flat.filter(({ n }) => !answers.has(n));
  if (rest.length > 0) {
    for (const row of await recall(sql, JSON.stringify(rest))) {
      const isSame = row.bodyHash === entries[row.n]?.idempotency?.bodyHash;
      answers.set(row.n, isSame ? answerOf('replayed', row) : { kind: 'mismatch' });
    }
  }
  return entries.map((_, n) => {
    const answer = answers.get(n);
    if (answer === undefined) throw new Error('a usage report was neither counted nor found');
    return answer;
  });
}

function answerOf(kind: 'counted' | 'replayed', row: Totals): LedgerAnswer {
  const { day, tokens, microDollars } = row;
  return {
    kind,
    day,
    totals: { tokens, microDollars },
    keyTotals: totalsOrNull(row.keyTokens, row.keyMicroDollars),
    tenantTotals: totalsOrNull(row.tenantTokens, row.tenantMicroDollars),
  };
}

function totalsOrNull(tokens: number | null, microDollars: number | null): UsageTotals | null {
  return tokens === null || microDollars === null ? null : { tokens, microDollars };
}

/**
 * Writes keys, entries and totals for all entries whose key is free, in one statement and so in one transaction. If two nodes use one key, the second
 * waits in `claimed` for the first, and then finds the key taken. Rows are locked in a fixed order to avoid deadlocks: keys first, then totals (those
 * of subjects, widget keys and tenants are in one table), then roll-ups.
 */
function count(sql: AnySql, entries: string) {
  return sql<Totals[]>`
    with given as materialized (
      select * from json_to_recordset(${entries}::text::json) as entry (n integer, subject text collate "C",
        day text collate "C", tokens bigint, "microDollars" bigint, "atMs" bigint, "tenantId" text, "sessionId" text,
        scope text collate "C", "keyAccount" text collate "C", "tenantAccount" text collate "C", key text collate "C", "bodyHash" text)
    ), claimed as (
      insert into usage_key as kept (subject, idempotency_key, body_hash, at_ms)
      select distinct on (scope, key) scope, key, "bodyHash", "atMs"
      from given where key is not null order by scope, key, n
      on conflict (subject, idempotency_key) do update set body_hash = excluded.body_hash, at_ms = excluded.at_ms
        where kept.at_ms <= excluded.at_ms - ${KEY_MEMORY_MS}
      returning subject, idempotency_key
    ), fresh as materialized (
      select * from given where key is null
      union all
      (select distinct on (scope, key) given.*
      from given join claimed on claimed.subject = scope and claimed.idempotency_key = key
      order by scope, key, n)
    ), totals as (
      insert into usage_total as total (subject, day, tokens, micro_dollars)
      select account, day, sum(tokens), sum("microDollars") from (
        select subject as account, day, tokens, "microDollars" from fresh
        union all
        select "keyAccount", day, tokens, "microDollars" from fresh where "keyAccount" is not null
        union all
        select "tenantAccount", day, tokens, "microDollars" from fresh where "tenantAccount" is not null
      ) as added
      group by account, day order by account, day
      on conflict (subject, day) do update set
        tokens = total.tokens + excluded.tokens, micro_dollars = total.micro_dollars + excluded.micro_dollars
      returning subject, day, tokens, micro_dollars
    ), counted as materialized (
      select fresh.*, session.key_id, session.agent_id,
        (totals.tokens - coalesce(sum(fresh.tokens) over later, 0))::bigint as tokens_after,
        (totals.micro_dollars - coalesce(sum("microDollars") over later, 0))::bigint as micro_dollars_after,
        (of_key.tokens - coalesce(sum(fresh.tokens) over later_of_key, 0))::bigint as key_tokens_after,
        (of_key.micro_dollars - coalesce(sum("microDollars") over later_of_key, 0))::bigint as key_micro_dollars_after,
        (of_tenant.tokens - coalesce(sum(fresh.tokens) over later_of_tenant, 0))::bigint as tenant_tokens_after,
        (of_tenant.micro_dollars - coalesce(sum("microDollars") over later_of_tenant, 0))::bigint as tenant_micro_dollars_after
      from fresh join totals on totals.subject = fresh.subject and totals.day = fresh.day
      left join totals as of_key on of_key.subject = fresh."keyAccount" and of_key.day = fresh.day
      left join totals as of_tenant on of_tenant.subject = fresh."tenantAccount" and of_tenant.day = fresh.day
      ${withSession(sql`fresh."sessionId"`)}
      window later as (partition by fresh.subject, fresh.day order by n rows between 1 following and unbounded following),
        later_of_key as (partition by fresh."keyAccount", fresh.day order by n
          rows between 1 following and unbounded following),
        later_of_tenant as (partition by fresh."tenantAccount", fresh.day order by n
          rows between 1 following and unbounded following)
    ), written as (
      insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tenant_id, session_id, idempotency_key,
        tokens_after, micro_dollars_after, key_tokens_after, key_micro_dollars_after, tenant_tokens_after,
        tenant_micro_dollars_after, key_id, agent_id)
      select subject, day, "atMs", tokens, "microDollars", "tenantId", "sessionId", key, tokens_after, micro_dollars_after,
        key_tokens_after, key_micro_dollars_after, tenant_tokens_after, tenant_micro_dollars_after, key_id, agent_id
      from counted order by n
    ), ${rolledUp},
    ${writeUsageEvents(sql`'callRef', null, 'model', null, 'basis', 'reported', 'isEstimated', false, 'priceVersion', null`)}
    select n, day, tokens_after as tokens, micro_dollars_after as "microDollars", key_tokens_after as "keyTokens",
      key_micro_dollars_after as "keyMicroDollars", tenant_tokens_after as "tenantTokens",
      tenant_micro_dollars_after as "tenantMicroDollars" from counted`;
}

/** The earlier reports under the keys of these entries. */
function recall(sql: AnySql, entries: string) {
  return sql<KeptReport[]>`
    select n, body_hash, day, tokens_after as tokens, micro_dollars_after as "microDollars",
      key_tokens_after as "keyTokens", key_micro_dollars_after as "keyMicroDollars",
      tenant_tokens_after as "tenantTokens", tenant_micro_dollars_after as "tenantMicroDollars"
    from json_to_recordset(${entries}::text::json) as given (n integer, subject text, "sessionId" text, scope text, key text)
    join usage_key on usage_key.subject = given.scope and usage_key.idempotency_key = given.key
    join usage_entry on usage_entry.subject = given.subject and usage_entry.idempotency_key = given.key
      and usage_entry.at_ms = usage_key.at_ms and usage_entry.session_id is not distinct from given."sessionId"
      and usage_entry.call_id is null`;
}
