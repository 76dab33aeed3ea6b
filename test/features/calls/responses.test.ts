import { describe, expect, test } from 'vitest';
import type { VoiceCalls } from '../../../src/calls/voice-calls.ts';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import type { FakeSideband } from '../../support/fake-brokered-provider.ts';
import { done, node, SESSION, started, useCalls, world } from './calls-world.ts';

useCalls();

const beside = { isInConversation: false } as const;

/** Opens a call. @param forbidsOverrides whether its page may not change the session */
async function open(forbidsOverrides: boolean): Promise<FakeSideband> {
  world.setUp({ forbidsOverrides });
  await world.open(node);
  return world.sideband;
}

/** Makes the provider report the usage of each response that is cancelled. */
function tellsWhatItCutsOff(sideband: FakeSideband): void {
  sideband.answerCancel = (id) => {
    if (id === undefined) return sideband.hear({ type: 'conversationIdle' });
    sideband.hear({ type: 'usage', key: id, model: undefined, tokens: NO_TOKENS });
    sideband.hear(done(id));
  };
}

/** The ids of charged responses: those whose usage was reported, or those for which it was estimated. */
const charged = (type: 'usage' | 'usageEstimated'): unknown[] =>
  world.metering.heard.flatMap((event) => {
    const told = event as { readonly type: string; readonly key: string };
    return told.type === type ? [told.key] : [];
  });

test('Any node says how many responses of a call run, after it has asked the node that hears the call', async () => {
  const other = await world.addNode();
  const call = await world.open(node);
  const counts = async () => Promise.all([node, other].map((each) => each.runningResponses(call)));
  const { sideband } = world.provider;
  expect(await counts()).toEqual([0, 0]);
  sideband.hear(started('resp_1'));
  expect(await counts()).toEqual([1, 1]);
  sideband.hear(done('resp_1'));
  expect(await counts()).toEqual([0, 0]);
  await world.lose();
  expect(await counts()).toEqual([undefined, undefined]);
});

test('If no node answers how many responses of a call run within half a second, nobody knows', async () => {
  const none = node.runningResponses({ id: 'call_none', sessionId: SESSION });
  expect(world.timers.size).toBe(1);
  world.timers.advance(499);
  expect(world.timers.size).toBe(1);
  world.timers.advance(1);
  expect(await none).toBeUndefined();
});

describe('A page that may change nothing', () => {
  test('may have no response outside the conversation or longer than granted: the third ends its session', async () => {
    const sideband = await open(true);
    const names = Array.from({ length: 30 }, (_, index) => `resp_${index}`);
    for (const id of names) sideband.hear(started(id, { ...beside, maxOutputTokens: Infinity }));
    expect(sideband.cancelled).toEqual(names);
    await node.settled();
    expect(await world.call()).toMatchObject({ closeReason: 'tampered' });
    expect(world.endReason).toBe('upstream_ended');
    await world.pass(2000);
    expect(charged('usageEstimated')).toEqual(names);
  });

  test('has its changes of the session reverted, and gets a strike for a response made before that, but not as the SDK connects', async () => {
    const sideband = await open(true);
    for (const id of ['sdk_1', 'sdk_2', 'resp_1', 'resp_2', 'resp_3']) {
      await node.settled();
      expect(await world.call()).toMatchObject({ state: 'open' });
      sideband.hear({ type: 'configChanged', isAsSdk: id.startsWith('sdk') });
      sideband.hear(started(id));
      sideband.hear({ type: 'configRestored' });
      sideband.hear(done(id));
      world.clock.advance(30_000);
    }
    expect(sideband.restored).toBe(5);
    await node.settled();
    expect(await world.call()).toMatchObject({ closeReason: 'tampered' });
    expect(world.endReason).toBe('upstream_ended');
  });
});

describe('A page that may change its session', () => {
  test('may run MAX_OPEN_RESPONSES responses at once, and is ended at the third one too many', async () => {
    const sideband = await open(false);
    for (const id of ['a', 'b', 'c', 'd']) sideband.hear(started(id, { ...beside, maxOutputTokens: Infinity }));
    expect(sideband.cancelled).toEqual(['c', 'd']);
    await world.look();
    expect(await world.call()).toMatchObject({ state: 'open' });
    sideband.hear(started('e', beside));
    await node.settled();
    expect(await world.call()).toMatchObject({ closeReason: 'tampered' });
  });

  test('may run no further response that the budget does not cover, but always an ordinary one', async () => {
    const sideband = await open(false);
    world.budgets.affordable = (responses) => responses.length < 2;
    sideband.hear(started('a'));
    sideband.hear(started('b', beside));
    expect(sideband.cancelled).toEqual(['b']);
    world.budgets.affordable = () => false;
    sideband.hear(done('a'));
    sideband.hear(done('b'));
    sideband.hear(started('c'));
    sideband.hear(done('c'));
    sideband.hear(started('d', beside));
    expect(sideband.cancelled).toEqual(['b', 'd']);
  });
});

describe('A response that runs when a call ends', () => {
  test('is cut off by its id, and charged as reported', async () => {
    const sideband = await open(false);
    tellsWhatItCutsOff(sideband);
    for (const id of ['resp_1', 'resp_2']) sideband.hear(started(id, beside));
    world.endSession();
    await node.settled();
    expect(sideband.cancelled).toEqual(['resp_1', 'resp_2']);
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    expect(charged('usage')).toEqual(['resp_1', 'resp_2']);
    expect(charged('usageEstimated')).toEqual([]);
  });

  test('is charged by context and time if not reported, before the call is closed', async () => {
    const sideband = await open(false);
    sideband.hear(started('resp_1'));
    world.clock.advance(3000);
    let chargedWhenClosed: unknown[] | undefined;
    world.beforeSave = ({ state }) => {
      if (state === 'closed') chargedWhenClosed ??= charged('usageEstimated');
    };
    world.endSession();
    await node.settled();
    await world.pass(2000);
    expect(chargedWhenClosed).toEqual(['resp_1']);
    // It ran for three seconds until the provider hung up; the hang-up is confirmed a second later.
    expect(world.metering.heard).toMatchObject([{ tokens: { audioOut: 60 } }]);
    expect(world.metering.gaps).toEqual([]);
  });

  test('because its page left during an answer is charged', async () => {
    const sideband = await open(true);
    sideband.hear(started('resp_1'));
    world.clock.advance(3000);
    world.provider.live.clear();
    sideband.close();
    await world.pass(30_000);
    expect(await world.call()).toMatchObject({ state: 'closed' });
    expect(charged('usageEstimated')).toEqual(['resp_1']);
  });
});

describe('A response that runs while nobody hears the call', () => {
  test('is cut off when the call is heard again, and charged as reported', async () => {
    const sideband = await open(true);
    sideband.hear(started('resp_1'));
    await world.lose();
    await world.pass(250);
    const again = world.sideband;
    expect(again).not.toBe(sideband);
    expect(again.cancelled).toEqual(['resp_1']);
    again.hear({ type: 'usage', key: 'resp_1', model: undefined, tokens: NO_TOKENS });
    again.hear(done('resp_1'));
    await world.pass(5000);
    expect([charged('usage'), charged('usageEstimated')]).toEqual([['resp_1'], []]);
  });

  test('and whose start nobody heard is cut off as soon as it is heard, and charged like any other', async () => {
    await open(true);
    await world.lose();
    await world.pass(250);
    const again = world.sideband;
    const names = Array.from({ length: 30 }, (_, index) => `resp_${index}`);
    for (const id of names) again.hear({ type: 'responseHeard', id, tokens: 100 });
    expect(again.cancelled).toEqual(names);
    await world.pass(2000);
    expect(charged('usageEstimated')).toEqual(names);
  });

  test('in a session that its page changes before there is a sideband has the change reverted all the same', async () => {
    await open(true);
    const attach = world.provider.attach.bind(world.provider);
    world.provider.attach = async (...args) => {
      const attached = await attach(...args);
      args[2]({ type: 'configChanged', isAsSdk: true });
      return attached;
    };
    await world.lose();
    await world.pass(250);
    // Once on attaching, and once for the change.
    expect(world.sideband.restored).toBe(2);
  });
});

describe('A node that stops', () => {
  test('cuts nothing off if another takes its calls, which charges what it hears', async () => {
    const sideband = await open(true);
    sideband.hear(started('resp_1'));
    const other = await world.addNode();
    await node.stop();
    world.kill(node);
    expect(sideband.cancelled).toEqual([]);
    await world.pass(1000);
    const taken = world.sideband;
    expect(taken).not.toBe(sideband);
    expect(taken.cancelled).toEqual([]);
    taken.hear({ type: 'usage', key: 'resp_1', model: undefined, tokens: NO_TOKENS });
    taken.hear(done('resp_1'));
    tellsWhatItCutsOff(taken);
    world.endSession();
    await other.settled();
    await world.pass(2000);
    expect([charged('usage'), charged('usageEstimated')]).toEqual([['resp_1'], []]);
  });

  test('cuts off and charges running responses if no other does', async () => {
    const sideband = await open(true);
    tellsWhatItCutsOff(sideband);
    sideband.hear(started('resp_1'));
    await node.stop();
    expect(sideband.cancelled).toEqual(['resp_1']);
    expect(charged('usage')).toEqual(['resp_1']);
    expect(world.provider.hangUps).toEqual([]);
  });
});

describe('A call that was taken over from a dead node', () => {
  async function take(): Promise<VoiceCalls> {
    const other = await world.addNode();
    world.kill(node);
    await world.pass(12_000);
    expect(world.provider.sidebands).toHaveLength(2);
    return other;
  }

  test('has a possible response in its conversation cut off at its end, and is charged for nothing if none runs', async () => {
    await open(true);
    const other = await take();
    tellsWhatItCutsOff(world.sideband);
    world.endSession();
    await other.settled();
    await world.pass(2000);
    expect(world.sideband.cancelled).toEqual([undefined]);
    expect(charged('usageEstimated')).toEqual([]);
  });

  test('has each response beyond the maximum cut off as soon as it is heard', async () => {
    await open(true);
    await take();
    const names = Array.from({ length: 30 }, (_, index) => `resp_${index}`);
    for (const id of names) world.hear({ type: 'responseHeard', id, tokens: 100 });
    expect(world.sideband.cancelled).toEqual(names.slice(1));
  });
});
