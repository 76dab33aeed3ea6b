import { expect, test } from 'vitest';
import { BusWhispers } from '../../../src/calls/bus-requests.ts';
import type { BusMessage } from '../../../src/protocol/bus.ts';
import { createInProcessBus } from '../../../src/stores/in-process.ts';
import { ManualClock } from '../../support/clock.ts';
import { ManualTimers } from '../../support/manual-timers.ts';
import { SESSION } from './calls-world.ts';

type WhisperMessage = Extract<BusMessage, { type: 'call.whisper' }>;

function start() {
  const [clock, timers, asked] = [new ManualClock(), new ManualTimers(), [] as WhisperMessage[]];
  const bus = createInProcessBus((error) => {
    throw error;
  });
  bus.subscribe((message) => void (message.type === 'call.whisper' && asked.push(message)));
  const whispers = new BusWhispers({ bus, clock, after: (ms, act) => timers.after(ms, act) });
  return { bus, clock, timers, asked, whispers };
}

test.each([
  [true, 'told'],
  [false, 'not_open'],
])(
  'A whisper has the outcome that the call’s node reports (%s), and its timer is cancelled',
  async (isTold, outcome) => {
    const { bus, clock, timers, asked, whispers } = start();
    const sent = whispers.send(SESSION, 'words');
    expect(asked).toHaveLength(1);
    const [{ request, ...rest }] = asked as [WhisperMessage];
    expect(rest).toEqual({ type: 'call.whisper', sessionId: SESSION, untilMs: clock.now() + 2000, text: 'words' });
    bus.publish({ type: 'call.whispered', request: 'of another', isTold: !isTold });
    bus.publish({ type: 'call.whispered', request, isTold });
    bus.publish({ type: 'call.whispered', request, isTold: !isTold });
    expect(await sent).toBe(outcome);
    expect(timers.size).toBe(0);
  },
);

test('A whisper that nobody answers has an unknown outcome, which later answers do not change', async () => {
  const { bus, timers, asked, whispers } = start();
  const sent = whispers.send(SESSION, 'words');
  timers.advance(2499);
  timers.advance(1);
  bus.publish({ type: 'call.whispered', request: asked[0]?.request ?? '', isTold: true });
  expect(await sent).toBe('unanswered');
});
