import type { VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { ofTenants } from '../scanned-page.ts';
import type { HistoryCounts, EndingFilter } from './contract.ts';

interface Group {
  readonly state: VoiceState;
  /** Null for the sessions that have ended: they are counted by state alone. */
  readonly caller: VoiceRecord['caller'] | null;
  readonly tenantId: string | null;
  readonly sessions: number;
}

/** See `VoiceHistory.counts`. One statement, so that a session that ends meanwhile is counted once. */
export async function countSessions(
  database: Database,
  endedSinceMs: number,
  tenants: readonly string[] | undefined,
): Promise<HistoryCounts> {
  const groups = await statementsOf(database).query<Group>`
    select state, caller, tenant_id, sum(sessions)::bigint as sessions
    from session_tally where ${ofTenants(tenants)} group by state, caller, tenant_id having sum(sessions) <> 0
    union all
    select 'ended', null, null, count(*) from voice_session where ended_at_ms >= ${endedSinceMs} and ${ofTenants(tenants)}`;

  const byState: Record<VoiceState, number> = { engaged: 0, idle: 0, stale: 0, ended: 0 };
  const byCaller: Record<VoiceRecord['caller'], number> = { widget: 0, console: 0 };
  const byTenant = new Map<string, number>();
  for (const { state, caller, tenantId, sessions } of groups) {
    byState[state] += sessions;
    if (caller !== null) byCaller[caller] += sessions;
    if (tenantId !== null) byTenant.set(tenantId, (byTenant.get(tenantId) ?? 0) + sessions);
  }
  return { byState, byCaller, byTenant: Object.fromEntries(byTenant) };
}

/** At most this many are counted: the embedded engine does one thing at a time. */
const MAX_ENDING = 10_000;

/**
 * See `VoiceHistory.countEnding`. Engaged and stale ones are among the sessions that began longest ago, which an index finds: a session that has been
 * stale since a time began before it.
 */
export function countEnding(
  database: Database,
  { engagedSinceMs, staleSinceMs, wordsDueByMs, tenants }: EndingFilter,
): Promise<number> {
  return statementsOf(database).value<number>`
    select count(*) from (
      select from (
        select from voice_session
        where ended_at_ms is null and started_at_ms <= ${engagedSinceMs} and state = 'engaged' and ${ofTenants(tenants)}
        limit ${MAX_ENDING}) as engaged
      union all
      select from (
        select from voice_session
        where ended_at_ms is null and started_at_ms <= ${staleSinceMs} and state = 'stale'
          and last_activity_at_ms <= ${staleSinceMs} and ${ofTenants(tenants)}
        limit ${MAX_ENDING}) as stale
      union all
      select from (
        select from voice_session
        where ended_at_ms is null and words_due_at_ms > 0 and words_due_at_ms <= ${wordsDueByMs}
          and started_at_ms > ${engagedSinceMs} and state = 'engaged' and ${ofTenants(tenants)}
        limit ${MAX_ENDING}) as unheard
    ) as ending`;
}
