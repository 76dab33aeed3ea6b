import { expect, test } from 'vitest';
import { faultsOf, probesWithin, type ObservedEndpoint } from './judge.ts';
import type { Received } from '../support/receiver.ts';

const fact = (name: string) => ({ type: 'session.ended', name: `session.ended ${name}` });

function received(name: string, changes: Partial<Received> = {}): Received {
  const told = { type: 'session.ended', fact: `session.ended ${name}`, data: { ref: name }, timestamp: '' };
  return { ...told, webhookId: `evt_${name}`, atMs: 0, status: 204, fault: undefined, ...changes };
}

const delivered = (name: string) => ({ event: `evt_${name}`, type: 'session.ended', state: 'delivered' });

const good: ObservedEndpoint = {
  name: 'one',
  types: ['session.ended'],
  received: [received('a', { status: 500 }), received('a'), received('a'), received('b')],
  deliveries: [delivered('a'), delivered('b')],
};

test('Whoever was told of all that happened, under one id each, is not complained of', () => {
  expect(faultsOf(good, [fact('a'), fact('b'), { type: 'session.started', name: 'session.started a' }])).toEqual([]);
});

test.each<[string, Partial<ObservedEndpoint>, string[]]>([
  ['was lost', { received: [received('a')], deliveries: [delivered('a')] }, ['session.ended b was not told']],
  [
    'was refused and never came again',
    { received: [received('a'), received('b', { status: 500 })], deliveries: [delivered('a')] },
    ['session.ended b was not told'],
  ],
  [
    'did not happen',
    { received: [...good.received, received('c')], deliveries: [...good.deliveries, delivered('c')] },
    ['session.ended c was told, and did not happen'],
  ],
  [
    'was told under two ids',
    { received: [...good.received, received('a', { webhookId: 'evt_b' })] },
    ['session.ended a came as evt_a and as evt_b'],
  ],
  [
    'is shown as delivered and did not come',
    { deliveries: [...good.deliveries, delivered('c')] },
    ['evt_c is shown as delivered, and did not come'],
  ],
  ['came and is shown nowhere', { deliveries: [delivered('a')] }, ['evt_b came, and is shown nowhere']],
  ['waits still', { deliveries: [delivered('a'), { ...delivered('b'), state: 'waiting' }] }, ['evt_b is waiting']],
  [
    'is signed by nobody',
    { received: [...good.received, received('b', { status: 401, fault: 'is signed by none of 1 secrets' })] },
    ['session.ended evt_b is signed by none of 1 secrets'],
  ],
])('What %s is complained of', (_, changes, faults) => {
  expect(faultsOf({ ...good, ...changes }, [fact('a'), fact('b')])).toEqual(faults.map((fault) => `one: ${fault}`));
});

test('A server that does not answer may be probed after 10, 30, 70 and 150 seconds', () => {
  expect([9, 10, 30, 70, 149, 150].map((sec) => probesWithin(sec * 1000))).toEqual([0, 1, 2, 3, 3, 4]);
});
