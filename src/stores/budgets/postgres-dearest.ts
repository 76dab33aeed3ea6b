import type { Database } from '../../database/database.ts';
import { sql, type Fragment } from '../../database/statements.ts';
import { MAX_SCANNED, runScan } from '../scanned-page.ts';
import type { BudgetUse, DearestSession, UsageOf } from './contract.ts';

/** How many sessions are named. */
const MAX_SESSIONS = 5;

interface ScannedSessions {
  /** When the oldest entry was made that was read; null if all were read. */
  readonly sinceMs: number | null;
  readonly sessions: readonly DearestSession[];
}

/**
 * The sessions that cost most, from the newest entries: a tenant's month may have millions, and the newest show what is expensive now.
 * @param maxScanned how many entries are read at most
 */
export function createPostgresDearest(database: Database, maxScanned = MAX_SCANNED): BudgetUse['dearestSessions'] {
  return async (of, fromMs) => {
    const [found] = await runScan<ScannedSessions>(database, dearest(of, fromMs, maxScanned));
    return { sinceMs: found?.sinceMs ?? fromMs, sessions: found?.sessions ?? [] };
  };
}

function dearest(of: UsageOf, fromMs: number, maxScanned: number): Fragment {
  const { tenantId } = of;
  return sql`
    with scanned as materialized (
      select at_ms, subject, session_id, key_id, agent_id, micro_dollars
      from usage_entry where at_ms >= ${fromMs} and ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}
      order by at_ms desc limit ${maxScanned}
    ), dearest as (
      select left(session_id, 42) as ref, sum(micro_dollars)::bigint as "microDollars"
      from scanned where session_id is not null and ${isOf(of)}
      group by session_id having sum(micro_dollars) > 0 order by "microDollars" desc, ref limit ${MAX_SESSIONS}
    )
    select (select case when count(*) = ${maxScanned} then min(at_ms) end from scanned) as "sinceMs",
      (select coalesce(json_agg(dearest order by "microDollars" desc, ref), '[]') from dearest) as sessions`;
}

function isOf(of: UsageOf): Fragment {
  if ('subject' in of) return sql`subject = ${of.subject}`;
  const { agentId, keyId } = of;
  return sql`
    ${agentId === null ? sql`true` : sql`agent_id = ${agentId}`} and ${keyId === null ? sql`true` : sql`key_id = ${keyId}`}`;
}
