import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { viewText } from '../../../src/voice/records.ts';

const dates = fc.date({ noInvalidDate: true });

test('the text of a view is its JSON', () => {
  const instant = dates.map((date) => date.toISOString());
  fc.assert(
    fc.property(fc.boolean(), instant, instant, fc.nat(), fc.nat(), (active, startedAt, lastSeenAt, duration, idle) => {
      const view = { active, startedAt, lastSeenAt, durationSec: duration, idleSec: idle };
      expect(viewText(view)).toBe(JSON.stringify(view));
    }),
  );
});
