import { PATIENT, type Database, type TransactionSql, LOCKS } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { grouped } from '../../kernel/async.ts';
import type { UsageTotals } from '../ledger/contract.ts';
import type { HeldAccount, Holds } from './contract.ts';

interface TakeRequest {
  readonly sessionId: string;
  readonly accounts: readonly HeldAccount[];
  readonly wanted: UsageTotals;
  readonly untilMs: number;
  readonly atMs: number;
}

interface StandingRequest {
  readonly account: string;
  readonly day: string;
  readonly sessionId: string;
  readonly atMs: number;
}

interface StandingRow extends UsageTotals {
  readonly usedTokens: number;
  readonly usedMicroDollars: number;
}

/**
 * What sessions hold, in PostgreSQL beside the totals and the history. Triggers keep each account's sums (`hold_sum`) equal to its holds, in the
 * transaction that writes the holds.
 */
export function createPostgresHolds(database: Database): Holds {
  const { query, write } = statementsOf(database);
  const standings = grouped((asked: readonly StandingRequest[]) => query<StandingRow>`${standingsOf(asked)}`);
  return {
    take: (sessionId, accounts, wanted, untilMs, atMs) =>
      database.transaction((sql) => take(sql, { sessionId, accounts, wanted, untilMs, atMs })),

    release: (sessionId) => write`
      delete from usage_hold where session_id = ${sessionId} and (
        not exists (select from voice_call where session_id = ${sessionId} and state <> 'closed')
        or exists (select from voice_session where id = ${sessionId} and state <> 'engaged'))`,

    // Locked, so that a page that resumes the session takes its hold either before this statement, which then finds a longer wait, or after it.
    releaseWaiting: ({ id, graceUntilMs }) => write`
      with waiting as (select session_id from voice_call where id = ${id} and grace_until_ms = ${graceUntilMs} for update)
      delete from usage_hold where session_id = (select session_id from waiting)
        and not exists (select from voice_call as other where other.session_id = usage_hold.session_id and state <> 'closed')`,

    async standing(account, day, sessionId, atMs) {
      const row = await standings({ account, day, sessionId, atMs });
      return {
        total: { tokens: row.usedTokens, microDollars: row.usedMicroDollars },
        heldByOthers: { tokens: row.tokens, microDollars: row.microDollars },
      };
    },

    async recount() {
      // Left because only a build that does not know the sums heard of the session's end.
      const dormant = sql`
        select distinct held.session_id as id from usage_hold as held join voice_session as session on session.id = held.session_id
        where session.state <> 'engaged'`;
      await statementsOf(database, PATIENT).write`with ${givenBack(dormant)} select 1`;
      return database.transaction(mendSums, PATIENT);
    },
  };
}

/** Other takes of the same account wait until this one has committed, and so do entries that add to its total. */
async function take(sql: TransactionSql, asked: TakeRequest): Promise<boolean> {
  const { sessionId, accounts, wanted, atMs } = asked;
  await lockTotals(sql, accounts);
  // A separate statement: it sees what others came to hold while this one waited for the totals.
  const asks = accounts.map(({ account, day }) => ({ account, day, sessionId, atMs }));
  const rows = await sql<StandingRow[]>`${standingsOf(asks)}`;
  const parts = accounts.map(({ ceilings }, n) => partOf(ceilings, wanted, rows[n] as StandingRow));
  if (parts.some((part) => part === undefined)) return false;
  await insert(sql, asked, parts as readonly UsageTotals[]);
  return true;
}

/** What is wanted or what is left, whichever is less; undefined if nothing is left. */
function partOf(ceilings: UsageTotals, wanted: UsageTotals, row: StandingRow): UsageTotals | undefined {
  const tokens = ceilings.tokens - row.usedTokens - row.tokens;
  const microDollars = ceilings.microDollars - row.usedMicroDollars - row.microDollars;
  if (tokens <= 0 || microDollars <= 0) return undefined;
  return { tokens: Math.min(wanted.tokens, tokens), microDollars: Math.min(wanted.microDollars, microDollars) };
}

/** Locks the totals in the order in which entries of the ledger lock them, to avoid deadlocks. */
async function lockTotals(sql: TransactionSql, accounts: readonly HeldAccount[]): Promise<void> {
  await sql`
    insert into usage_total as total (subject, day, tokens, micro_dollars)
    select account, day, 0, 0
    from unnest(${accounts.map(({ account }) => account)}::text[], ${accounts.map(({ day }) => day)}::text[])
      as given (account, day)
    order by account collate "C", day collate "C"
    on conflict (subject, day) do update set tokens = total.tokens`;
}

/**
 * One statement sees one instant: what a session uses moves from its hold to the total, and is never in both or neither. A hold counts on every day,
 * because a session that goes on after midnight uses up the new day. Lapsed holds that were not deleted yet are still in the sum, and are taken off.
 */
function standingsOf(asked: readonly StandingRequest[]): Fragment {
  return sql`
    select coalesce(total.tokens, 0) as "usedTokens", coalesce(total.micro_dollars, 0) as "usedMicroDollars",
      (coalesce(held.tokens, 0) - coalesce(gone.tokens, 0))::bigint as tokens,
      (coalesce(held.micro_dollars, 0) - coalesce(gone.micro_dollars, 0))::bigint as "microDollars"
    from unnest(${asked.map(({ account }) => account)}::text[], ${asked.map(({ day }) => day)}::text[],
      ${asked.map(({ sessionId }) => sessionId)}::text[], ${asked.map(({ atMs }) => atMs)}::bigint[])
      with ordinality as asked (account, day, session_id, at_ms, n)
    left join usage_total as total on total.subject = asked.account and total.day = asked.day
    left join lateral (
      select sum(tokens) as tokens, sum(micro_dollars) as micro_dollars from hold_sum where hold_sum.account = asked.account
    ) as held on true
    left join lateral (
      select sum(tokens) as tokens, sum(micro_dollars) as micro_dollars from (
        -- By its session: the index of accounts has all that are open.
        select tokens, micro_dollars from usage_hold as own
        where own.session_id = asked.session_id and own.account || '' = asked.account and own.until_ms + 0 > asked.at_ms
        union all
        select tokens, micro_dollars from usage_hold as lapsed
        where lapsed.account = asked.account and lapsed.until_ms <= asked.at_ms
      ) as left_out
    ) as gone on true
    order by n`;
}

async function insert(
  sql: TransactionSql,
  { sessionId, accounts, untilMs }: TakeRequest,
  parts: readonly UsageTotals[],
): Promise<void> {
  await sql`
    insert into usage_hold (session_id, account, tokens, micro_dollars, until_ms)
    select ${sessionId}, account, tokens, micro_dollars, ${untilMs}::bigint
    from unnest(${accounts.map(({ account }) => account)}::text[], ${parts.map(({ tokens }) => tokens)}::bigint[],
      ${parts.map(({ microDollars }) => microDollars)}::bigint[]) as given (account, tokens, micro_dollars)
    order by account collate "C"
    on conflict (session_id, account) do update set
      tokens = excluded.tokens, micro_dollars = excluded.micro_dollars, until_ms = excluded.until_ms`;
}

/**
 * Part of a statement that writes entries of calls: lowers the holds by what was used.
 * @param used rows (session_id, tokens, micro_dollars)
 */
export function lowered(used: Fragment): Fragment {
  return sql`
    lowered as (
      update usage_hold as hold set tokens = greatest(0, hold.tokens - used.tokens),
        micro_dollars = greatest(0, hold.micro_dollars - used.micro_dollars)
      from (
        select session_id, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as micro_dollars
        from (${used}) as each group by session_id
      ) as used
      where hold.session_id = used.session_id and ${ofLocked(sql`select session_id from (${used}) as each`)}
        and (hold.tokens > 0 or hold.micro_dollars > 0)
    )`;
}

/**
 * Part of a statement that saves sessions: deletes the holds of those that are no longer engaged.
 * @param over rows (id)
 */
export function givenBack(over: Fragment): Fragment {
  return sql`given_back as (delete from usage_hold as hold where ${ofLocked(over)})`;
}

/**
 * The holds of some sessions, locked in a fixed order first, to avoid deadlocks. Sessions are given as arrays, because then an index finds each of
 * them, however many there are.
 */
function ofLocked(sessionIds: Fragment): Fragment {
  return sql`hold.session_id = any(array(
    select session_id from usage_hold where session_id = any(array(${sessionIds})) order by session_id, account for update))`;
}

/**
 * Holds and sums are read in one snapshot, in which they should agree, so any difference is an error, whatever happens meanwhile. Only one node may
 * add the difference: if two did, the sums would be wrong again.
 */
async function mendSums(sql: TransactionSql): Promise<number | undefined> {
  const [lock] = await sql<{ isMine: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.holdSums}) as "isMine"`;
  if (lock?.isMine !== true) return undefined;
  const [row] = await sql<{ wrong: number }[]>`
    with wrong as materialized (
      select account, shard, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as micro_dollars from (
        select account, hold_shard(session_id) as shard, tokens, micro_dollars from usage_hold
        union all
        select account, shard, -tokens, -micro_dollars from hold_sum
      ) as each
      group by account, shard having sum(tokens) <> 0 or sum(micro_dollars) <> 0
    ), mended as (
      select add_to_hold_sums(array_agg(account), array_agg(shard), array_agg(tokens), array_agg(micro_dollars)) from wrong
    )
    select (select count(*) from wrong) as wrong from mended`;
  return row?.wrong ?? 0;
}
