import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Audit, AuditEntry } from '../../src/stores/audit/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

/** @param read what was appended for a target, oldest first: the contract itself tells one at a time. */
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
      } as const;
      const bare = { ...entry, actor: 'cli', reason: null, requestId: null };
      await node().audit.append(entry);
      await node().audit.append(bare);
      expect(await node().read(target)).toEqual([entry, bare]);
    });

    test('tells the last entry of an action on a target up to a time, and none of others', async () => {
      const target = randomId();
      const entry: AuditEntry = {
        atMs: DAY_BEGIN,
        actor: 'a',
        action: 'session.end',
        target,
        reason: null,
        requestId: null,
      };
      const later = { ...entry, atMs: DAY_BEGIN + 2, actor: 'b', reason: 'late', requestId: 'r' };
      const others: AuditEntry[] = [
        { ...entry, action: 'key.issue', atMs: DAY_BEGIN + 1 },
        { ...entry, target: randomId(), atMs: DAY_BEGIN + 1 },
        // At the same instant the first one is the one that did it.
        { ...later, actor: 'c' },
      ];
      for (const one of [entry, later, ...others]) await node().audit.append(one);
      const latest = (untilMs: number) => node().audit.latest('session.end', target, untilMs);
      expect(await latest(DAY_BEGIN - 1)).toBeUndefined();
      expect(await latest(DAY_BEGIN)).toEqual(entry);
      expect(await latest(DAY_BEGIN + 1)).toEqual(entry);
      expect(await latest(DAY_BEGIN + 2)).toEqual(later);
      expect(await latest(DAY_BEGIN + 9)).toEqual(later);
    });
  });
}
