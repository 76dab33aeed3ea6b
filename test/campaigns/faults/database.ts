import type { Sql } from 'postgres';
import type { CallRow, History, LedgerRow, SessionRow } from './history.ts';

/** Reads what PostgreSQL holds about sessions, usage and logins. */
export async function readDatabase(
  sql: Sql,
): Promise<Pick<History, 'sessions' | 'ledger' | 'totals' | 'logins' | 'calls'>> {
  const sessions = await sql<Record<'id' | 'started' | 'seen' | 'active' | 'ended' | 'reason', string>[]>`
    select id, started_at_ms as started, last_seen_at_ms as seen, last_activity_at_ms as active, ended_at_ms as ended, end_reason as reason
    from voice_session`;
  const ledger = await sql<
    (Omit<LedgerRow, 'tokens' | 'atMs' | 'pico'> & Record<'tokens' | 'atMs' | 'pico', string>)[]
  >`
    select subject, idempotency_key as key, tokens, call_id as "callId", at_ms as "atMs", estimated as "isEstimated",
      coalesce(pico_dollars, 0) as pico
    from usage_entry`;
  const totals = await sql<{ subject: string; tokens: string }[]>`
    select subject, sum(tokens) as tokens from usage_total group by subject`;
  const logins = await sql<{ email: string; count: string }[]>`select email, count(*) from login group by email`;
  const calls = await sql<(Record<keyof CallRow, string> & { readonly providerCallId: string })[]>`
    select id, session_id as "sessionId", provider_call_id as "providerCallId", state, opened_at_ms as "openedAtMs",
      close_reason as "closeReason",
      coalesce(text_in + text_cached + text_out + audio_in + audio_cached + audio_out, 0) as tokens,
      coalesce(gap_ms, 0) as "gapMs", coalesce(pico_measured, 0) as "picoMeasured",
      coalesce(pico_estimated, 0) as "picoEstimated", coalesce(micro_dollars, 0) as "microDollars"
    from voice_call left join call_meter on call_id = id where provider_call_id is not null`;
  return {
    calls: new Map(
      calls.map((row): [string, CallRow] => [
        row.providerCallId,
        {
          ...row,
          openedAtMs: (row.openedAtMs as string | null) === null ? null : Number(row.openedAtMs),
          tokens: Number(row.tokens),
          gapMs: Number(row.gapMs),
          picoMeasured: BigInt(row.picoMeasured),
          picoEstimated: BigInt(row.picoEstimated),
          microDollars: Number(row.microDollars),
        },
      ]),
    ),
    sessions: new Map(
      sessions.map(({ id, started, seen, active, ended, reason }): [string, SessionRow] => [
        id,
        {
          id,
          startedAtMs: Number(started),
          lastSeenAtMs: Number(seen),
          lastActivityAtMs: Number(active),
          endedAtMs: (ended as string | null) === null ? null : Number(ended),
          reason,
        },
      ]),
    ),
    ledger: ledger.map((row): LedgerRow => ({
      ...row,
      tokens: Number(row.tokens),
      atMs: Number(row.atMs),
      pico: BigInt(row.pico),
    })),
    totals: new Map(totals.map(({ subject, tokens }) => [subject, Number(tokens)])),
    logins: new Map(logins.map(({ email, count }) => [email, Number(count)])),
  };
}
