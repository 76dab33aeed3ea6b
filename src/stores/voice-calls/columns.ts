import type { AnySql } from '../../database/database.ts';

/** The columns of a call's record, named like its fields. */
export function columns(sql: AnySql) {
  return sql`
    id, session_id as "sessionId", subject, tenant_id as "tenantId", key_id as "keyId", provider, fingerprint, model, state,
    provider_call_id as "providerCallId", created_at_ms as "createdAtMs", opened_at_ms as "openedAtMs",
    closing_at_ms as "closingAtMs", closed_at_ms as "closedAtMs", close_reason as "closeReason", hangup, hangup_tries as "hangupTries",
    over_at_ms as "overAtMs", over_door as "overDoor",
    next_try_at_ms as "nextTryAtMs", unheard_since_ms as "unheardSinceMs", give_up_at_ms as "giveUpAtMs",
    provider_ends_at_ms as "providerEndsAtMs", grace_until_ms as "graceUntilMs",
    wrapped_up_at_ms as "wrappedUpAtMs", owner_node as "ownerNode", fence, version`;
}
