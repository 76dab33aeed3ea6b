import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { heartbeatRequest } from '../../src/protocol/session.ts';
import { usualHeartbeat } from '../../src/http/routes/heartbeat.ts';
import { examples } from '../support/examples.ts';

const bodies = fc.record(
  {
    sm_session_id: fc.stringMatching(/^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/),
    idleSec: fc.nat(999_999_999),
  },
  { requiredKeys: ['sm_session_id'] },
);

describe('the short cut for the usual heartbeat', () => {
  test('accepts what clients send, and reads the same as parser and schema', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(usualHeartbeat(JSON.stringify(body))).toEqual(heartbeatRequest.parse(body));
      }),
      examples(1000),
    );
  });

  test('reads a text that differs anywhere the same way, or leaves it to them', () => {
    const changed = fc.tuple(bodies, fc.nat(), fc.nat(3), fc.string({ maxLength: 3 })).map(([body, at, less, more]) => {
      const text = JSON.stringify(body);
      const from = at % (text.length + 1);
      return text.slice(0, from) + more + text.slice(from + less);
    });
    fc.assert(
      fc.property(changed, (text) => {
        const read = usualHeartbeat(text);
        const isRight = read === undefined || isDeepStrictEqual(read, heartbeatRequest.parse(JSON.parse(text)));
        expect(isRight).toBe(true);
      }),
      examples(5000),
    );
  });
});
