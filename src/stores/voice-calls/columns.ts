import { sql } from '../../database/statements.ts';

/** The columns of a call's record, named like its fields. */
export const columns = sql`
  id, session_id, subject, tenant_id, key_id, provider, fingerprint, model, state, provider_call_id, created_at_ms, opened_at_ms,
  closing_at_ms, closed_at_ms, close_reason, hangup, hangup_tries, over_at_ms, over_door, next_try_at_ms, unheard_since_ms,
  give_up_at_ms, provider_ends_at_ms, grace_until_ms, owner_node, fence, version`;
