import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { NodeLease } from '../../src/node/lease.ts';
import { ManualClock, SECOND } from '../support/clock.ts';

describe('The lease for calls', () => {
  let clock: ManualClock;
  let lease: NodeLease;
  let isAway: boolean;
  /** For each renewal, the time until which it would extend the lease. */
  let renewedUntil: number[];
  /** No renewal is answered before this resolves. */
  let answer: Promise<unknown>;

  beforeEach(() => {
    clock = new ManualClock();
    isAway = false;
    renewedUntil = [];
    answer = Promise.resolve();
    lease = new NodeLease({
      node: 'a',
      calls: {
        async renew(_, untilMs) {
          if (isAway) throw new Unavailable('database');
          renewedUntil.push(untilMs - clock.now());
          await answer;
          return [];
        },
        leave: async () => undefined,
        hasOther: async () => false,
      },
      sockets: { keepAlive: () => undefined },
      nodes: { noteLeases: () => undefined },
      clock,
      onError: (error) => {
        throw error;
      },
    });
  });

  const nothing = async (): Promise<void> => undefined;
  const renew = (countAll = nothing): Promise<void> => lease.renewForCalls(countAll).catch(() => undefined);

  async function passOutage(seconds: number): Promise<void> {
    isAway = true;
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(SECOND);
      await renew();
    }
    isAway = false;
  }

  test('lets the others return for five seconds after an outage, however long this node counts before it renews', async () => {
    await renew();
    await passOutage(12);
    await renew(async () => clock.advance(6 * SECOND));
    expect(lease.mayOthersReturn).toBe(true);
    clock.advance(5 * SECOND - 1);
    expect(lease.mayOthersReturn).toBe(true);
    clock.advance(1);
    expect(lease.mayOthersReturn).toBe(false);
  });

  test('lets nobody return at the start, nor after an outage in which no lease lapsed', async () => {
    await renew();
    expect(lease.mayOthersReturn).toBe(false);
    await passOutage(5);
    await renew();
    expect(lease.mayOthersReturn).toBe(false);
  });

  test('is renewed once where several ask for it, and runs from before the counting', async () => {
    let answered = (): void => undefined;
    answer = new Promise<void>((resolve) => (answered = resolve));
    let counted = 0;
    const count = async (): Promise<void> => {
      counted += 1;
      clock.advance(2 * SECOND);
    };
    const all = [renew(count), renew(count), renew(count)];
    answered();
    await Promise.all(all);
    expect([counted, renewedUntil]).toEqual([1, [7 * SECOND]]);
  });
});
