import type { Sql } from 'postgres';
import type { History, LedgerRow, SessionRow } from './history.ts';

/** Reads what PostgreSQL holds of sessions, usage and logins. */
export async function readDatabase(sql: Sql): Promise<Pick<History, 'sessions' | 'ledger' | 'totals' | 'logins'>> {
  const sessions = await sql<Record<'id' | 'started' | 'active' | 'ended' | 'reason', string>[]>`
    select id, started_at_ms as started, last_activity_at_ms as active, ended_at_ms as ended, end_reason as reason
    from voice_session`;
  const ledger = await sql<{ subject: string; key: string | null; tokens: string }[]>`
    select subject, idempotency_key as key, tokens from usage_entry`;
  const totals = await sql<{ subject: string; tokens: string }[]>`
    select subject, sum(tokens) as tokens from usage_total group by subject`;
  const logins = await sql<{ email: string; count: string }[]>`select email, count(*) from login group by email`;
  return {
    sessions: new Map(
      sessions.map(({ id, started, active, ended, reason }): [string, SessionRow] => [
        id,
        {
          id,
          startedAtMs: Number(started),
          lastActivityAtMs: Number(active),
          endedAtMs: (ended as string | null) === null ? null : Number(ended),
          reason,
        },
      ]),
    ),
    ledger: ledger.map((row): LedgerRow => ({ ...row, tokens: Number(row.tokens) })),
    totals: new Map(totals.map(({ subject, tokens }) => [subject, Number(tokens)])),
    logins: new Map(logins.map(({ email, count }) => [email, Number(count)])),
  };
}
