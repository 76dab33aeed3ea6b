import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { heartbeatRequest } from '../../src/protocol/heartbeat.ts';
import { usualHeartbeat } from '../../src/protocol/usual-heartbeat.ts';

const characters = (set: string, length: number) =>
  fc.array(fc.constantFrom(...set), { minLength: length, maxLength: length }).map((all) => all.join(''));
const hash = characters('0123456789abcdef', 32);
const random = characters('ABCXYZabcxyz0189_-', 22);
const bodies = fc.record(
  {
    sm_session_id: fc.tuple(hash, random).map((parts) => `s:${parts.join(':')}`),
    idleSec: fc.nat(999_999_999),
  },
  { requiredKeys: ['sm_session_id'] },
);

describe('the short cut for the usual heartbeat', () => {
  test('takes what clients send, and reads in it what parser and schema read', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(usualHeartbeat(JSON.stringify(body))).toEqual(heartbeatRequest.parse(body));
      }),
      { numRuns: 1000 },
    );
  });

  test('reads nothing else in a text that differs somewhere, or leaves it to them', () => {
    const changed = fc.tuple(bodies, fc.nat(), fc.nat(3), fc.string({ maxLength: 3 })).map(([body, at, less, more]) => {
      const text = JSON.stringify(body);
      const from = at % (text.length + 1);
      return text.slice(0, from) + more + text.slice(from + less);
    });
    fc.assert(
      fc.property(changed, (text) => {
        const read = usualHeartbeat(text);
        if (read !== undefined) expect(read).toEqual(heartbeatRequest.parse(JSON.parse(text)));
      }),
      { numRuns: 5000 },
    );
  });
});
