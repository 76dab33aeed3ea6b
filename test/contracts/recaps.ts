import { describe, expect, test } from 'vitest';
import type { Recaps } from '../../src/stores/recaps/contract.ts';
import { DAY_BEGIN, nodesOf, voiceRecord, type Make } from './support.ts';

const HOUR_MS = 3_600_000;

export function recapsContract(name: string, make: Make<Recaps>): void {
  describe(`recaps, ${name}`, () => {
    const recaps = nodesOf(make);

    test('are kept one per session, the last one, and found by every node until they are forgotten', async () => {
      const [{ id }, other] = [voiceRecord(), voiceRecord()];
      expect(await recaps().find(id, DAY_BEGIN)).toBeUndefined();
      await recaps().keep(id, 'first', DAY_BEGIN + HOUR_MS, DAY_BEGIN);
      await recaps().keep(other.id, 'another', DAY_BEGIN + HOUR_MS, DAY_BEGIN);
      await recaps().keep(id, 'last', DAY_BEGIN + HOUR_MS, DAY_BEGIN);
      expect(await recaps().find(id, DAY_BEGIN)).toBe('last');
      expect(await recaps().find(id, DAY_BEGIN)).toBe('last');
      await recaps().forget(id);
      await recaps().forget(id);
      expect(await recaps().find(id, DAY_BEGIN)).toBeUndefined();
      expect(await recaps().find(other.id, DAY_BEGIN)).toBe('another');
    });

    test('are not kept beyond their time', async () => {
      const { id } = voiceRecord();
      await recaps().keep(id, 'late', DAY_BEGIN - 1, DAY_BEGIN);
      expect(await recaps().find(id, DAY_BEGIN)).toBeUndefined();
    });
  });
}
