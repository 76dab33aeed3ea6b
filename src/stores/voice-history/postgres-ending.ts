import type { Sql } from '../../database/database.ts';
import type { EndingFilter } from './contract.ts';

/** No more are counted: the embedded engine does one thing at a time. */
const MAX_ENDING = 10_000;

/**
 * See `VoiceHistory.countEnding`. Both kinds are among the sessions that began longest ago: who is stale since a time has begun before it.
 */
export async function countEnding(sql: Sql, { engagedSinceMs, staleSinceMs, tenants }: EndingFilter): Promise<number> {
  const shown = tenants === undefined ? sql`` : sql`and tenant_id = any(${[...tenants]}::text[])`;
  const [row] = await sql<{ ending: number }[]>`
    select count(*) as ending from (
      select from (
        select from voice_session
        where ended_at_ms is null and started_at_ms <= ${engagedSinceMs} and state = 'engaged' ${shown}
        limit ${MAX_ENDING}) as engaged
      union all
      select from (
        select from voice_session
        where ended_at_ms is null and started_at_ms <= ${staleSinceMs} and state = 'stale'
          and last_activity_at_ms <= ${staleSinceMs} ${shown}
        limit ${MAX_ENDING}) as stale
    ) as ending`;
  return row?.ending ?? 0;
}
