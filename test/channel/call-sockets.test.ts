import { expect, test } from 'vitest';
import { CallSockets } from '../../src/channel/call-sockets.ts';
import type { BusMessage } from '../../src/protocol/bus.ts';
import type { FollowedSessions } from '../../src/stores/bus/contract.ts';
import { ManualClock } from '../support/clock.ts';
import { ManualTimers } from '../support/manual-timers.ts';

test('A request that no node answers is refused once, two and a half seconds later, and its timer is gone once it is answered', () => {
  const [timers, published] = [new ManualTimers(), [] as BusMessage[]];
  const bus = { publish: (message: BusMessage) => void published.push(message), followed: {} as FollowedSessions };
  const sockets = new CallSockets({ bus, node: 'here', clock: new ManualClock(), after: timers.after });
  const answers: unknown[] = [];
  for (const id of ['m1', 'm2'])
    sockets.ask('session', { type: 'say', id, text: 'hello' }, (code) => answers.push([id, code]));
  const [first, second] = published.flatMap((message) => (message.type === 'call.asked' ? [message.request] : []));
  sockets.listeners['call.answered']?.(
    { type: 'call.answered', sessionId: 'session', request: second ?? '', code: null },
    true,
  );
  expect([answers, timers.size]).toEqual([[['m2', null]], 1]);
  timers.advance(2499);
  expect(answers).toHaveLength(1);
  timers.advance(1);
  sockets.listeners['call.answered']?.(
    { type: 'call.answered', sessionId: 'session', request: first ?? '', code: null },
    true,
  );
  expect(answers).toEqual([
    ['m2', null],
    ['m1', 'CALL_NOT_OPEN'],
  ]);
});
