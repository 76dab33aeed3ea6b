import { describe, expect, test } from 'vitest';
import type { ClockAgreements } from '../../src/stores/clock/contract.ts';
import { atOnce, nodesOf, RACERS, type Make } from './support.ts';

export function clockAgreementsContract(name: string, make: Make<ClockAgreements>): void {
  describe(`what nodes agree on about the time, ${name}`, () => {
    const agreements = nodesOf(make);

    test('of all nodes that note leads concurrently one succeeds, and every node reads its note', async () => {
      const { version } = await agreements().read();
      const noted = await atOnce(RACERS, (racer) =>
        agreements().note({ registryMs: racer, sinceMs: 1_900_000_000_000, databaseMs: racer - 100 }, version),
      );
      expect(noted.filter(Boolean)).toHaveLength(1);
      const winner = noted.indexOf(true);
      expect(await agreements().read()).toMatchObject({
        version: version + 1,
        leads: { registryMs: winner, sinceMs: 1_900_000_000_000, databaseMs: winner - 100 },
      });
      expect(await agreements().note({ registryMs: 7, sinceMs: 7, databaseMs: 7 }, version)).toBe(false);
    });

    test("vouchers for the leads are counted, and their time is that of the database's clock", async () => {
      const { version } = await agreements().read();
      await agreements().note({ registryMs: 0, sinceMs: 0, databaseMs: 0 }, version);
      const before = await agreements().read();
      await atOnce(RACERS, () => agreements().vouch());
      const after = await agreements().read();
      expect(after.vouched).toBe(before.vouched + RACERS);
      expect(after.version).toBe(before.version);
      expect(after.databaseMs).toBeGreaterThanOrEqual(before.databaseMs);
      expect(after.vouchedAgoMs).toBeLessThanOrEqual(after.databaseMs - before.databaseMs);
    });
  });
}
