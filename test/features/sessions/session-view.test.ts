import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { viewOf, viewText } from '../../../src/sessions/records.ts';
import { opened } from '../../machines/voice-session-support.ts';

const instants = fc.date({ noInvalidDate: true }).map((date) => date.getTime());

test('the text of a view is its JSON', () => {
  fc.assert(
    fc.property(instants, instants, instants, fc.option(instants), instants, (start, seen, active, end, at) => {
      const times = { startedAtMs: start, lastSeenAtMs: seen, lastActivityAtMs: active, endedAtMs: end };
      const record = { ...opened(), ...times };
      expect(viewText(record, at)).toBe(JSON.stringify(viewOf(record, at)));
    }),
  );
});
