import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fastPath, heldStates } from '../../machines/held-call/selectors.ts';
import type { HeldCallEvent } from '../../machines/held-call/types.ts';
import { examples } from '../support/examples.ts';
import { everyEvent, records, steps, terms } from './held-call-support.ts';
import { SECOND } from './voice-call-support.ts';

const runs = examples(500);
const names = Object.keys(everyEvent(0));
const begin = () => steps.begin({ record: records.creating, needsSideband: true, isDiallable: true, terms });

/** Any events at times that never run back; each record that is seen is newer than the one before. */
const anyEvents: fc.Arbitrary<readonly HeldCallEvent[]> = fc
  .array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(0, 100, 250, SECOND, 6 * SECOND)), { maxLength: 60 })
  .map((drawn) => {
    let at = 3 * SECOND;
    return drawn.flatMap(([name, passed], index) => {
      at += passed;
      const event = everyEvent(at)[name];
      if (event?.type !== 'RECORD') return event ?? [];
      return { ...event, record: { ...event.record, version: 10 + index } };
    });
  });

describe('The fast path', () => {
  test('answers as the machine does', () => {
    const holds = fc.property(anyEvents, (events) => {
      let snapshot = begin();
      for (const event of events) {
        const states = heldStates(snapshot.value);
        if (states === undefined) return;
        const touched = fastPath(states, snapshot.context, event);
        const [next, commands] = steps.send(snapshot, event);
        const before = snapshot;
        snapshot = next;
        if (touched === undefined) continue;
        expect([touched, before.value, []]).toEqual([next.context, next.value, commands]);
      }
    });
    fc.assert(holds, runs);
  });

  test('handles everything a provider sends while somebody speaks, and the clock while nothing is due', () => {
    const events = everyEvent(4 * SECOND);
    const order = ['DIAL', 'ATTACHED', 'RECORD, open', 'RESPONSE_STARTED'] as const;
    const speaking = order.reduce((snapshot, name) => steps.send(snapshot, events[name] as HeldCallEvent)[0], begin());
    const states = heldStates(speaking.value);
    expect(states).toEqual({ sideband: 'heard', record: 'saved', end: 'none', responses: 'running' });
    const heard: HeldCallEvent = { type: 'RESPONSE_HEARD', at: 5 * SECOND, id: 'new', tokens: 3 };
    const usual = ['USAGE', 'ITEM_ADDED', 'CONVERSATION_IDLE', 'TOOL_CALLED', 'CONFIG_RESTORED', 'GRANTED', 'ALIVE'];
    const others = [...usual, 'CLOCK', 'RECORD, as known'].flatMap((name) => events[name] ?? []);
    for (const event of [heard, ...others])
      expect(states && fastPath(states, speaking.context, event)).toMatchObject({ record: { state: 'open' } });
  });
});
