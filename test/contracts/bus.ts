import { once, EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Bus } from '../../src/stores/bus/contract.ts';
import type { BusMessage } from '../../src/protocol/bus.ts';
import { nodesOf, type Make } from './support.ts';

/** @param cut breaks the connections by which nodes hear each other; undefined where there are none */
export function busContract(name: string, make: Make<Bus>, cut?: () => Promise<unknown>): void {
  describe(`the bus, ${name}`, () => {
    const bus = nodesOf(make);

    /** Publishes until `heard` resolves: a listener on another node may not hear at once. */
    async function publishUntil(heard: Promise<unknown>, publisher: Bus, message: BusMessage): Promise<void> {
      publisher.publish(message);
      const again = setInterval(() => publisher.publish(message), 20);
      await heard.finally(() => clearInterval(again));
    }

    /** Resolves when a listener of `node` hears a message about this login. */
    function heard(node: Bus, loginId: string): Promise<unknown> {
      const emitter = new EventEmitter();
      const result = once(emitter, 'heard').finally(() => stop());
      const stop = node.subscribe((message) => {
        if (message.type === 'login.changed' && message.loginId === loginId) emitter.emit('heard');
      });
      return result;
    }

    test('every node hears a message, the publisher included', async () => {
      const loginId = randomId();
      const [here, there] = [bus(), bus()];
      const both = Promise.all([heard(here, loginId), heard(there, loginId)]);
      await publishUntil(both, here, { type: 'login.changed', loginId });
    });

    test('only its publisher gets a message marked as its own', async () => {
      const loginId = randomId();
      const [here, there] = [bus(), bus()];
      const told = new Map<Bus, boolean>();
      for (const node of new Set([here, there]))
        node.subscribe((message, isOwn) => {
          if (message.type === 'login.changed' && message.loginId === loginId) told.set(node, isOwn);
        });
      await publishUntil(heard(there, loginId), here, { type: 'login.changed', loginId });
      expect([told.get(here), told.get(there)]).toEqual([true, here === there]);
    });

    test('a listener that has stopped hears nothing more; stopping twice is harmless', async () => {
      const node = bus();
      const stopped: BusMessage[] = [];
      const stop = node.subscribe((message) => stopped.push(message));
      stop();
      stop();
      const loginId = randomId();
      await publishUntil(heard(node, loginId), bus(), { type: 'login.changed', loginId });
      expect(stopped).toEqual([]);
    });

    test('a listener by type hears messages of its types, and no others', async () => {
      const node = bus();
      const types: string[] = [];
      const stop = node.subscribe({
        'login.changed': ({ type }) => types.push(type),
        'tenants.changed': ({ type }) => types.push(type),
      });
      const loginId = randomId();
      node.publish({ type: 'session.spoke', sessionId: randomId() });
      node.publish({ type: 'tenants.changed' });
      await publishUntil(heard(node, loginId), bus(), { type: 'login.changed', loginId });
      stop();
      expect(new Set(types)).toEqual(new Set(['tenants.changed', 'login.changed']));
    });

    test('a function that listens twice can stop once', async () => {
      const node = bus();
      const loginId = randomId();
      let calls = 0;
      const listener = (message: BusMessage) => {
        if (message.type === 'login.changed' && message.loginId === loginId) calls += 1;
      };
      const stopFirst = node.subscribe(listener);
      const stopSecond = node.subscribe(listener);
      stopFirst();
      await publishUntil(heard(node, loginId), node, { type: 'login.changed', loginId });
      expect(calls).toBeGreaterThan(0);
      stopSecond();
    });

    test('a listener that throws or rejects hurts neither the publisher nor the others', async () => {
      const node = bus();
      const stops = [
        node.subscribe(() => {
          throw new Error('a bad listener');
        }),
        node.subscribe(() => Promise.reject(new Error('a bad listener, later'))),
      ];
      const loginId = randomId();
      await publishUntil(heard(node, loginId), node, { type: 'login.changed', loginId });
      for (const stop of stops) stop();
    });

    test('a node hears the others', async () => {
      const node = bus();
      await expect.poll(() => node.isConnected).toBe(true);
    });

    // A bus within one process cannot be cut.
    if (cut === undefined) return;

    test('a node that was cut off is told of the gap when it hears again', async () => {
      const [here, there] = [bus(), bus()];
      for (const node of [here, there]) await expect.poll(() => node.isConnected).toBe(true);
      const told: string[] = [];
      const stopFirst = here.onGap(() => told.push('one that has stopped'));
      const stop = here.onGap(() => told.push('here'));
      stopFirst();
      stopFirst();
      await cut();
      await expect.poll(() => told).toEqual(['here']);
      // From then on every message is heard without being repeated.
      const loginId = randomId();
      const hearing = heard(here, loginId);
      there.publish({ type: 'login.changed', loginId });
      await hearing;
      stop();
    });
  });
}
