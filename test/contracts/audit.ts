import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Audit, AuditEntry } from '../../src/stores/audit/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

/** @param read what was appended for a target, oldest first: the contract itself only writes. */
export function auditContract(
  name: string,
  make: Make<{ readonly audit: Audit; readonly read: (target: string) => Promise<AuditEntry[]> }>,
): void {
  describe(`the audit, ${name}`, () => {
    const node = nodesOf(make);

    test('keeps every entry as it was appended, in order', async () => {
      const target = randomId();
      const entry = {
        atMs: DAY_BEGIN,
        actor: 'ops@example.com',
        action: 'key.revoke',
        target,
        reason: 'stolen',
        requestId: 'r',
      };
      const bare = { ...entry, actor: 'cli', reason: null, requestId: null };
      await node().audit.append(entry);
      await node().audit.append(bare);
      expect(await node().read(target)).toEqual([entry, bare]);
    });
  });
}
