import type { AnySql, Database, TransactionSql } from '../../database/database.ts';
import type { UsageTotals } from '../ledger/contract.ts';
import type { HeldAccount, Holds } from './contract.ts';

interface Asked {
  readonly sessionId: string;
  readonly accounts: readonly HeldAccount[];
  readonly wanted: UsageTotals;
  readonly untilMs: number;
  readonly atMs: number;
}

interface StandingRow extends UsageTotals {
  readonly usedTokens: number;
  readonly usedMicroDollars: number;
}

interface AccountRow extends UsageTotals {
  readonly account: string;
}

/** What open sessions hold back, in PostgreSQL beside the totals and the history. */
export function createPostgresHolds(database: Database): Holds {
  return {
    take: (sessionId, accounts, wanted, untilMs, atMs) =>
      database.transaction((sql) => take(sql, { sessionId, accounts, wanted, untilMs, atMs })),

    async free(sessionId) {
      await database.run((sql) => sql`delete from usage_hold where session_id = ${sessionId}`);
    },

    async standing(account, day, sessionId, atMs) {
      const [row] = await database.run((sql) => readStanding(sql, account, day, sessionId, atMs));
      if (row === undefined) throw new Error('a sum has one row');
      return {
        total: { tokens: row.usedTokens, microDollars: row.usedMicroDollars },
        heldByOthers: { tokens: row.tokens, microDollars: row.microDollars },
      };
    },
  };
}

/** Whoever asks for the same account waits until this has been committed, and so do reports that add to its total. */
async function take(sql: TransactionSql, asked: Asked): Promise<boolean> {
  const { sessionId, accounts, wanted, atMs } = asked;
  const used = byAccount(await lockTotals(sql, accounts));
  const names = accounts.map(({ account }) => account);
  // A statement of its own: it sees what others held while this one waited for the totals.
  const held = byAccount(await sumHeld(sql, names, sessionId, atMs));
  const parts = accounts.map((each) => partOf(each, wanted, used.get(each.account), held.get(each.account)));
  if (parts.some((part) => part === undefined)) return false;
  await insert(sql, asked, parts as readonly UsageTotals[]);
  return true;
}

/** What is wanted or left, whichever is less; undefined when nothing is left. */
function partOf(
  { ceilings }: HeldAccount,
  wanted: UsageTotals,
  used: UsageTotals | undefined,
  held: UsageTotals | undefined,
): UsageTotals | undefined {
  const tokens = ceilings.tokens - (used?.tokens ?? 0) - (held?.tokens ?? 0);
  const microDollars = ceilings.microDollars - (used?.microDollars ?? 0) - (held?.microDollars ?? 0);
  if (tokens <= 0 || microDollars <= 0) return undefined;
  return { tokens: Math.min(wanted.tokens, tokens), microDollars: Math.min(wanted.microDollars, microDollars) };
}

function byAccount(rows: readonly AccountRow[]): Map<string, UsageTotals> {
  return new Map(rows.map((row) => [row.account, row]));
}

/** In the order in which entries of the ledger lock them, so that nobody waits in a circle. */
function lockTotals(sql: TransactionSql, accounts: readonly HeldAccount[]) {
  return sql<AccountRow[]>`
    insert into usage_total as total (subject, day, tokens, micro_dollars)
    select account, day, 0, 0
    from unnest(${accounts.map(({ account }) => account)}::text[], ${accounts.map(({ day }) => day)}::text[])
      as given (account, day)
    order by account collate "C", day collate "C"
    on conflict (subject, day) do update set tokens = total.tokens
    returning subject as account, tokens, micro_dollars as "microDollars"`;
}

/** A hold counts on every day: a session that goes on after midnight uses what the new day has. */
function sumHeld(sql: AnySql, accounts: readonly string[], sessionId: string, atMs: number) {
  return sql<AccountRow[]>`
    select account, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as "microDollars"
    from usage_hold as hold
    where ${counts(sql, accounts, sessionId, atMs)} group by account`;
}

function counts(sql: AnySql, accounts: readonly string[], sessionId: string, atMs: number) {
  return sql`account = any(${accounts}::text[]) and session_id <> ${sessionId} and until_ms > ${atMs}
    and not exists (select from voice_session as session where session.id = hold.session_id and ended_at_ms is not null)`;
}

/**
 * One statement sees one instant: what a session uses moves from its hold to the total, and is never in both or neither. A session that
 * uses more than it held holds nothing any more.
 */
function readStanding(sql: AnySql, account: string, day: string, sessionId: string, atMs: number) {
  return sql<StandingRow[]>`
    select coalesce(max(total.tokens), 0)::bigint as "usedTokens",
      coalesce(max(total.micro_dollars), 0)::bigint as "usedMicroDollars",
      coalesce(sum(held.tokens), 0)::bigint as tokens,
      coalesce(sum(greatest(0, held.micro_dollars - held.used)), 0)::bigint as "microDollars"
    from (select ${account}::text as account, ${day}::text as day) as asked
      left join usage_total as total on total.subject = asked.account and total.day = asked.day
      left join lateral (
        select hold.tokens, hold.micro_dollars, (
          select coalesce(sum(meter.micro_dollars), 0)
          from voice_call as call join call_meter as meter on meter.call_id = call.id
          where call.session_id = hold.session_id
        ) as used
        from usage_hold as hold where ${counts(sql, [account], sessionId, atMs)}
      ) as held on true`;
}

async function insert(
  sql: TransactionSql,
  { sessionId, accounts, untilMs }: Asked,
  parts: readonly UsageTotals[],
): Promise<void> {
  await sql`
    insert into usage_hold (session_id, account, tokens, micro_dollars, until_ms)
    select ${sessionId}, account, tokens, micro_dollars, ${untilMs}::bigint
    from unnest(${accounts.map(({ account }) => account)}::text[], ${parts.map(({ tokens }) => tokens)}::bigint[],
      ${parts.map(({ microDollars }) => microDollars)}::bigint[]) as given (account, tokens, micro_dollars)
    on conflict (session_id, account) do update set
      tokens = excluded.tokens, micro_dollars = excluded.micro_dollars, until_ms = excluded.until_ms`;
}
