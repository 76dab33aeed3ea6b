import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heartbeatAnswer, readFrame } from '../../src/channel/frames.ts';
import { clientFrame } from '../../src/protocol/frames.ts';
import { viewOf } from '../../src/sessions/records.ts';
import { voiceRecord } from '../contracts/support.ts';
import { complaint } from './fake-socket.ts';

const oddities = fc.oneof(
  fc.constantFrom(
    null,
    true,
    -1,
    1.5,
    2 ** 53,
    Number.MAX_SAFE_INTEGER,
    -0,
    '',
    'x'.repeat(255),
    'x'.repeat(256),
    {},
    [],
  ),
  fc.integer(),
  fc.string({ unit: 'grapheme' }),
);
const heartbeats = fc.record(
  { type: fc.constantFrom('heartbeat', 'Heartbeat', 'end'), idleSec: oddities, id: oddities, more: fc.jsonValue() },
  { requiredKeys: ['type'] },
);

describe('the short cut for heartbeats', () => {
  it('accepts what the schema accepts, and reads the same', () => {
    fc.assert(
      fc.property(heartbeats, (frame) => {
        const text = JSON.stringify(frame);
        fc.pre(!text.includes('\\u'));
        const bySchema = clientFrame.safeParse(JSON.parse(text)).data;
        const read = readFrame(text);
        expect(read === undefined).toBe(bySchema === undefined);
        expect({ ...read, ...bySchema }).toEqual({ ...read });
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the answer to a heartbeat', () => {
  it('is what JSON.stringify makes of the frame', () => {
    // Anything that a string may hold, including lone surrogates and many characters that must be escaped.
    const unit = fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0xffff }));
    const text = fc.array(unit, { maxLength: 255 }).map((units) => String.fromCharCode(...units));
    const ids = fc.option(fc.oneof(fc.maxSafeInteger(), text), { nil: undefined });
    const record = voiceRecord();
    fc.assert(
      fc.property(ids, fc.nat(10_000_000), (id, later) => {
        const at = record.startedAtMs + later;
        const frame = {
          type: 'heartbeat',
          ...(id === undefined ? {} : { id }),
          session: viewOf(record, at),
          state: 'engaged',
        };
        expect(heartbeatAnswer(record, at, id)).toBe(JSON.stringify(frame));
      }),
    );
  });
});

describe('any text', () => {
  it('is read as a frame that the document describes, or not at all', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record(
          {
            type: fc.constantFrom('attach', 'heartbeat', 'usage', 'end', '__proto__'),
            id: fc.jsonValue(),
            tokens: fc.jsonValue(),
            dollars: fc.jsonValue(),
            sm_session_id: fc.jsonValue(),
          },
          { requiredKeys: ['type'] },
        )
        .map((frame) => JSON.stringify(frame)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const frame = readFrame(text);
        expect(frame === undefined ? undefined : complaint('client', JSON.parse(text))).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });
});
