import type { AnySql } from '../../database/database.ts';

/** The columns of a record by the names of its fields. */
export function record(sql: AnySql) {
  return sql`
    id, subject, caller, tenant_id as "tenantId", agent_id as "agentId", key_id as "keyId", named, login_id as "loginId",
    provider, upstream_id as "upstreamId", heard as "isHeard", started_at_ms as "startedAtMs", last_seen_at_ms as "lastSeenAtMs",
    last_activity_at_ms as "lastActivityAtMs", heard_until_ms as "heardUntilMs", settled_at_ms as "settledAtMs", ended_at_ms as "endedAtMs",
    end_reason as "endReason", version`;
}
