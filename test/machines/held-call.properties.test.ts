import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HeldCallCommand } from '../../machines/held-call/types.ts';
import { examples } from '../support/examples.ts';
import { HeldCallWorld, response } from './held-call-support.ts';
import { SECOND } from './voice-call-support.ts';

const runs = examples(300);

type Step = (world: HeldCallWorld) => void;

const id = fc.nat(5).map((n) => `r${n}`);
const ms = fc.constantFrom(10, 100, 250, 250, 1000, 2500, 6000, 20_000);

const lookAndWork: fc.Arbitrary<Step> = fc.oneof(
  ms.map(
    (passed): Step =>
      (world) =>
        world.pass(passed),
  ),
  fc.nat(3).map(
    (index): Step =>
      (world) =>
        world.finish(index),
  ),
);
const faults: fc.Arbitrary<Step> = fc.oneof(
  fc.boolean().map(
    (isAway): Step =>
      (world) =>
        void (world.isStoreAway = isAway),
  ),
  fc.boolean().map(
    (isAway): Step =>
      (world) =>
        void (world.isProviderAway = isAway),
  ),
  fc.boolean().map(
    (isLeft): Step =>
      (world) =>
        world.lose(isLeft),
  ),
  fc.constant<Step>((world) => world.dropLease()),
  fc.constant<Step>((world) => void (world.mayHear = true)),
);
const speech: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(id, fc.boolean(), fc.boolean()).map(([name, isInConversation, isAffordable]): Step => (world) => {
    if (world.hasSideband)
      world.send({
        type: 'RESPONSE_STARTED',
        at: world.at,
        response: response(name, { isInConversation }),
        isAffordable,
      });
  }),
  fc.tuple(id, fc.boolean()).map(([name, isTold]): Step => (world) => {
    if (world.hasSideband) world.send({ type: 'RESPONSE_DONE', at: world.at, id: name, isTold });
  }),
  id.map((name): Step => (world) => {
    if (world.hasSideband) world.send({ type: 'RESPONSE_HEARD', at: world.at, id: name, tokens: 3 });
  }),
  fc.constant<Step>((world) => {
    if (world.hasSideband) world.send({ type: 'ALIVE', at: world.at });
  }),
);
/** Events that want the agent to speak, that stop it, or that decide whether it may. */
const wishes: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom('greet', null).map(
    (instructions): Step =>
      (world) =>
        world.send({ type: 'RESPONSE_WANTED', at: world.at, instructions }),
  ),
  fc.boolean().map((isOn): Step => (world) => {
    if (world.hasSideband) world.send({ type: 'SPEECH', at: world.at, who: 'agent', isOn });
  }),
  fc.constant<Step>((world) => world.send({ type: 'ANSWER_TAKEN', at: world.at })),
  fc.constant<Step>((world) => world.send({ type: 'INTERRUPT', at: world.at })),
  fc.boolean().map((isBusy): Step => (world) => {
    if (world.hasSideband) world.send({ type: 'RESPONSE_REFUSED', at: world.at, isBusy, instructions: null });
  }),
);
/** Events that end a call. */
const ends: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom('session_ended' as const, 'session_idle' as const, 'replaced' as const).map(
    (reason): Step =>
      (world) =>
        world.send({ type: 'CLOSE', at: world.at, reason }),
  ),
  fc.constantFrom('remote' as const, 'lost' as const).map(
    (reason): Step =>
      (world) =>
        world.sayOver(reason),
  ),
  fc.constant<Step>((world) => world.end()),
  fc.constant<Step>((world) => world.send({ type: 'LAST_WORDS', at: world.at })),
);
const calm = fc.array(fc.oneof(lookAndWork, lookAndWork, speech, wishes, faults), { maxLength: 60 });
const any = fc.array(fc.oneof(lookAndWork, lookAndWork, speech, wishes, faults, ends), { maxLength: 80 });

/** Store and provider answer again, for long enough that everything pending happens. */
function settle(world: HeldCallWorld): void {
  world.isStoreAway = world.isProviderAway = false;
  world.mayHear = true;
  for (let looks = 0; looks < 400; looks += 1) {
    world.pass(250);
    while (world.works.length > 0) {
      const before = world.works.length;
      world.finish();
      if (world.works.length >= before) world.finish(world.works.length - 1);
    }
  }
}

const charges = (commands: readonly HeldCallCommand[]): string[] =>
  commands.flatMap((command) => (command.type === 'charge' ? [command.key] : []));
const gaps = (commands: readonly HeldCallCommand[]) =>
  commands.flatMap((command) => (command.type === 'gap' ? [command] : []));

describe('For every sequence of what the provider, the store and the clock do, a held call', () => {
  test('that is to end is hung up, and not hung up again once its end is confirmed', () => {
    const holds = fc.property(fc.boolean(), any, (isTaken, sequence) => {
      const world = new HeldCallWorld(isTaken);
      let hangUpsWhenOver: number | undefined;
      let isToEnd = false;
      world.check = (event, commands) => {
        isToEnd ||=
          event.type === 'CLOSE' || event.type === 'OVER' || world.record.state === 'closing' || !world.isLive;
        if (world.record.state === 'closed') hangUpsWhenOver ??= world.hangUps.length;
        const isAsked = commands.some(({ type }) => type === 'hangUp');
        expect(isAsked && (!isToEnd || world.record.state === 'closed')).toBe(false);
      };
      for (const step of sequence) step(world);
      settle(world);
      expect(world.record.state).toBe(isToEnd ? 'closed' : 'open');
      expect(world.held.states === undefined).toBe(isToEnd);
      expect(world.isLive).toBe(!isToEnd);
      expect(world.hangUps).toHaveLength(isToEnd ? (hangUpsWhenOver ?? -1) : 0);
    });
    fc.assert(holds, runs);
  });

  test('that nobody ends is never hung up, and is heard again', () => {
    const holds = fc.property(fc.boolean(), calm, (isTaken, sequence) => {
      const world = new HeldCallWorld(isTaken);
      for (const step of sequence) step(world);
      // The rules themselves end a call whose page went too far, or that could not be heard for too long.
      if (world.record.state !== 'open' || world.held.call.end.wanted !== null) return;
      expect(world.hangUps).toEqual([]);
      settle(world);
      if (world.record.state !== 'open') return;
      expect(world.held.states).toMatchObject({ sideband: 'heard', record: 'saved', end: 'none' });
      expect(world.record.unheardSinceMs).toBeNull();
    });
    fc.assert(holds, runs);
  });

  test('forgets no response, charges none twice, and none whose usage was reported', () => {
    const holds = fc.property(any, (sequence) => {
      const world = new HeldCallWorld();
      /** Responses whose usage was not reported and that were not charged. */
      const unsettled = new Set<string>();
      world.check = (event, commands) => {
        for (const key of charges(commands)) expect(unsettled.delete(key)).toBe(true);
        if (event.type === 'RESPONSE_DONE') unsettled.delete(event.id);
        if (world.held.states === undefined) return;
        const open = world.held.call.responses.open.map((each) => each.id);
        for (const name of open) unsettled.add(name);
        expect([...unsettled].toSorted()).toEqual(open.toSorted());
      };
      for (const step of sequence) step(world);
      world.send({ type: 'CLOSE', at: world.at, reason: 'session_ended' });
      settle(world);
      expect(world.held.states).toBeUndefined();
      expect([...unsettled]).toEqual([]);
    });
    fc.assert(holds, runs);
  });

  test('reports no period twice as unheard', () => {
    const holds = fc.property(fc.boolean(), any, (isTaken, sequence) => {
      const world = new HeldCallWorld(isTaken);
      for (const step of sequence) step(world);
      world.send({ type: 'CLOSE', at: world.at, reason: 'session_ended' });
      settle(world);
      const told = gaps(world.commands).toSorted((a, b) => a.fromMs - b.fromMs);
      told.forEach((gap, index) => {
        expect(gap.untilMs).toBeGreaterThan(gap.fromMs);
        expect(gap.fromMs).toBeGreaterThanOrEqual(told[index - 1]?.untilMs ?? 0);
      });
    });
    fc.assert(holds, runs);
  });

  test('waits for one answer at a time, and its states match its data', () => {
    const holds = fc.property(fc.boolean(), any, (isTaken, sequence) => {
      const world = new HeldCallWorld(isTaken);
      world.check = () => {
        const { states, call } = world.held;
        if (states === undefined) return;
        expect(call.sideband.heardAtMs !== null).toBe(states.sideband === 'heard');
        expect(call.saving !== null).toBe(states.record === 'saving');
        expect(call.responses.open.length > 0 && states.responses === 'quiet').toBe(false);
        expect(call.record.state === 'closing').toBe(states.end === 'asking');
      };
      for (const step of sequence) {
        step(world);
        if (world.held.states === undefined) break;
        const waitedFor = world.works.filter(({ type }) => type === 'save' || type === 'awaitHangUps');
        expect(waitedFor).toHaveLength(world.held.states.record === 'saving' ? 1 : 0);
        expect(world.hasSideband).toBe(world.held.states.sideband === 'heard');
      }
    });
    fc.assert(holds, runs);
  });

  test('whose end cannot be saved is hung up all the same within seconds, and then left alone', () => {
    const holds = fc.property(fc.boolean(), calm, (isTaken, sequence) => {
      const world = new HeldCallWorld(isTaken);
      for (const step of sequence) step(world);
      if (world.held.states === undefined) return;
      world.isStoreAway = true;
      world.isProviderAway = false;
      world.send({ type: 'CLOSE', at: world.at, reason: 'session_ended' });
      // Waits for as long as the retries of earlier failures may take.
      const untilMs =
        Math.max(world.at, world.held.call.end.unsaved.tryAtMs, world.record.nextTryAtMs ?? 0) + 4 * SECOND;
      while (world.at < untilMs) {
        world.pass(250);
        while (world.works.length > 0 && world.works[0]?.type !== 'awaitHangUps') world.finish();
        if (world.works.length > 0) world.finish();
      }
      expect(world.isLive).toBe(false);
      let asksWhenDone: number | undefined;
      for (let looks = 0; looks < 60; looks += 1) {
        world.pass(250);
        if (world.held.call.end.unsaved.doneAtMs !== null) asksWhenDone ??= world.hangUps.length;
        for (let works = world.works.length; works > 0; works -= 1) world.finish();
      }
      expect(world.hangUps).toHaveLength(asksWhenDone ?? world.hangUps.length);
    });
    fc.assert(holds, runs);
  });
});
