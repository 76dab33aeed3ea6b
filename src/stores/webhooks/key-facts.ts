import { sql, type Fragment } from '../../database/statements.ts';
import type { KeyChange } from '../tenants/contract.ts';
import { told } from './told.ts';

/**
 * Part of a statement that changes widget keys: `saved` has the columns of the changed keys. The key itself is not told.
 * @param isNews whether the fact is true of a row of `saved` and was not before
 */
export function toldKeys(
  type: 'key.issued' | 'key.revoked' | 'key.paused',
  { atMs, by, reason }: Omit<KeyChange, 'atMs'> & { readonly atMs: Fragment },
  isNews: Fragment,
): Fragment {
  return told({
    facts: sql`
      select ${type}::text as type, tenant_id, ${atMs} as at_ms, null::text as ref, id, origin, label from saved where ${isNews}`,
    data: sql`
      json_build_object('tenantId', fact.tenant_id, 'keyId', fact.id, 'origin', fact.origin, 'label', fact.label, 'by', ${by}::text,
        'reason', ${reason}::text)`,
  });
}
