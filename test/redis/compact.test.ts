import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedPart, movingPart, readRecord } from '../../src/stores/voice-registry/redis.ts';
import { examples } from '../support/examples.ts';
import { DAY_BEGIN, endedRecord, voiceRecord } from '../contracts/support.ts';

const anyTime = fc.oneof(fc.constant(0), fc.integer({ min: DAY_BEGIN, max: DAY_BEGIN + 86_400_000 }));

test('A record is read as it was written, whether or not a call is heard and words are due', () => {
  const holds = fc.property(anyTime, anyTime, anyTime, fc.boolean(), (heardUntilMs, wordsDueAtMs, lease, isOver) => {
    const live = voiceRecord({ heardUntilMs, wordsDueAtMs });
    const record = isOver ? endedRecord(live) : live;
    expect(readRecord(fixedPart(record), movingPart(record, '7', lease))).toEqual(record);
  });
  fc.assert(holds, examples(100));
});

test.each([
  ['without a heard call', '50', { heardUntilMs: 0, wordsDueAtMs: 0 }],
  ['with a heard call', `50/${DAY_BEGIN}`, { heardUntilMs: DAY_BEGIN, wordsDueAtMs: 0 }],
])('A record of a former build %s has no words due', (_what, lease, told) => {
  const record = voiceRecord();
  expect(readRecord(fixedPart(record), `3 100 ${lease} ${DAY_BEGIN} 0 0`)).toMatchObject({ ...told, version: 3 });
});

test('A record for which no words are due takes no more room than before', () => {
  const record = voiceRecord({ heardUntilMs: 0, wordsDueAtMs: 0 });
  expect(movingPart(record, '100', 50)).toBe(`1 100 50 ${DAY_BEGIN} 0 0`);
  expect(fixedPart(record)).not.toMatch(/heardUntil|wordsDue/);
});
