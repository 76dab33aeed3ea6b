import { sql, type Fragment } from '../../database/statements.ts';
import { INSTALLATION } from '../tenants/tenant-column.ts';
import { told } from './told.ts';

/**
 * Part of a statement that writes entries of the ledger. `counted` has them, with "atMs", "tenantId", "sessionId", subject, key_id, agent_id, tokens
 * and "microDollars".
 * @param ofCall what else is told about an entry of a call: JSON fields, from the columns of `fact`
 */
export function toldUsage(ofCall: Fragment): Fragment {
  return told({
    facts: sql`
      select 'usage.recorded' as type, coalesce("tenantId", ${INSTALLATION}) as tenant_id, "atMs" as at_ms, left("sessionId", 42) as ref, counted.*
      from counted`,
    data: sql`
      json_build_object('ref', fact.ref, 'tenantId', nullif(fact.tenant_id, ${INSTALLATION}), 'keyId', fact.key_id, 'agentId', fact.agent_id,
        'subject', fact.subject, 'tokens', fact.tokens, 'microDollars', fact."microDollars", ${ofCall})`,
  });
}
