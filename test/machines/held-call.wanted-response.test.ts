import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HeldCallCommand, HeldCallEvent } from '../../machines/held-call/types.ts';
import { HeldCallState } from '../../src/calls/held-call-state.ts';
import { examples } from '../support/examples.ts';
import { everyEvent, newCall, response, steps } from './held-call-support.ts';
import { SECOND } from './voice-call-support.ts';

const at = 4 * SECOND;
const want = (instructions: string | null = null): HeldCallEvent => ({ type: 'RESPONSE_WANTED', at, instructions });
const start = (id: string): HeldCallEvent => ({
  type: 'RESPONSE_STARTED',
  at,
  response: response(id),
  isAffordable: true,
});
const end = (id: string): HeldCallEvent => ({ type: 'RESPONSE_DONE', at, id, isTold: true });
const refuse = (isBusy: boolean, instructions: string | null = null): HeldCallEvent => ({
  type: 'RESPONSE_REFUSED',
  at,
  isBusy,
  instructions,
});

/** A call that is open and heard, unless other events are given. */
class Call {
  readonly #held = new HeldCallState(steps, newCall);

  constructor(names: readonly string[] = ['DIAL', 'ATTACHED', 'RECORD, open']) {
    for (const name of names) this.send(everyEvent(3 * SECOND)[name] as HeldCallEvent);
  }

  /** @returns what the provider is asked to do as a result */
  send(...events: readonly HeldCallEvent[]): readonly string[] {
    return events.flatMap((event) => this.#held.send(event).flatMap(wordsOf));
  }
}

function wordsOf(command: HeldCallCommand): string[] {
  if (command.type === 'createResponse') return [`say ${command.instructions ?? 'something'}`];
  return command.type === 'clearSpeech' || command.type === 'cancelResponse' ? [command.type] : [];
}

describe('A response that Switchboard wants from the agent', () => {
  describe('if the sideband was lost before it started', () => {
    const lost: readonly string[] = ['SIDEBAND_LOST', 'DIAL', 'ATTACHED'];
    const events = (...names: readonly string[]) => names.map((name) => everyEvent(at)[name] as HeldCallEvent);

    test('is requested once more if it turns out that the provider had not received what came before it', () => {
      const call = new Call();
      expect(call.send(want())).toEqual(['say something']);
      expect(call.send(...events(...lost))).toEqual([]);
      expect(call.send(...events('ANSWER_TAKEN', 'ANSWER_TAKEN'))).toEqual(['say something']);
      expect(call.send(start('r1'), end('r1'), ...events('ANSWER_TAKEN'))).toEqual([]);
    });

    test('is requested again even after the next sideband was lost as well', () => {
      const call = new Call();
      call.send(want(), ...events(...lost, ...lost));
      expect(call.send(...events('ANSWER_TAKEN'))).toEqual(['say something']);
    });

    test('is requested as soon as the call is heard, if it was still waiting', () => {
      const call = new Call();
      expect(call.send(start('r0'), want(), ...events('SIDEBAND_LOST'), end('r0'))).toEqual([]);
      expect(call.send(...events('DIAL', 'ATTACHED'))).toEqual(['say something']);
      expect(call.send(...events('ANSWER_TAKEN'), start('r1'), end('r1'))).toEqual([]);
    });

    test.each([
      ['the visitor is answered meanwhile', [start('r1'), end('r1')]],
      ['the visitor interrupts', [{ type: 'INTERRUPT', at } as const]],
    ])('is not requested again if %s', (_, meanwhile) => {
      const call = new Call();
      call.send(want(), ...events(...lost), ...meanwhile);
      expect(call.send(...events('ANSWER_TAKEN'))).toEqual([]);
    });
  });

  test('is requested at once if none is running, and not again until that one has started', () => {
    const call = new Call();
    expect(call.send(want('hello'))).toEqual(['say hello']);
    expect(call.send(want(), want())).toEqual([]);
    expect(call.send(start('r1'))).toEqual([]);
    expect(call.send(end('r1'))).toEqual(['say something']);
  });

  test('waits for the end of a running one, and several waiting ones become one', () => {
    const call = new Call();
    expect(call.send(start('r1'), want('goodbye'), want())).toEqual([]);
    expect(call.send(end('r1'))).toEqual(['say goodbye']);
    expect(call.send(start('r2'), end('r2'))).toEqual([]);
  });

  test('waits until the call is open and heard', () => {
    const call = new Call([]);
    expect(call.send(want('hello'), { type: 'DIAL', at }, { type: 'ATTACHED', at })).toEqual([]);
    expect(call.send(everyEvent(at)['RECORD, open'] as HeldCallEvent)).toEqual(['say hello']);
  });

  test('that the provider refuses because another started first waits for that one', () => {
    const call = new Call();
    call.send(want('hello'), start('by itself'));
    expect(call.send(refuse(true, 'hello'))).toEqual([]);
    expect(call.send(end('by itself'))).toEqual(['say hello']);
  });

  test('that the provider refuses for another reason is not requested again', () => {
    const call = new Call();
    call.send(want('hello'));
    expect(call.send(refuse(false, 'hello'), start('r1'), end('r1'))).toEqual([]);
    expect(call.send(want())).toEqual(['say something']);
  });

  test('is not requested a second time if the sideband was lost before the provider answered', () => {
    const call = new Call();
    call.send(want('hello'));
    const lost = everyEvent(at)['SIDEBAND_LOST'] as HeldCallEvent;
    const again = ['RECORD, unheard', 'SAVED', 'CLOCK'].map((name) => everyEvent(9 * SECOND)[name] as HeldCallEvent);
    expect(call.send(lost, ...again, { type: 'ATTACHED', at: 9 * SECOND })).toEqual([]);
  });

  test('is not requested in a call that is to end', () => {
    const call = new Call();
    call.send(start('r1'), want(), { type: 'CLOSE', at, reason: 'session_ended' });
    expect(call.send(end('r1'), want())).toEqual([]);
  });

  test('is given up when the visitor interrupts the agent, which stops at once', () => {
    const call = new Call();
    call.send(start('r1'), want());
    expect(call.send({ type: 'INTERRUPT', at })).toEqual(['cancelResponse', 'clearSpeech']);
    expect(call.send(end('r1'))).toEqual([]);
  });

  test('is cut off if the visitor interrupts the agent before it started', () => {
    const call = new Call();
    call.send(want());
    expect(call.send({ type: 'INTERRUPT', at })).toEqual(['cancelResponse', 'clearSpeech']);
    expect(call.send(start('r1'), end('r1'))).toEqual([]);
    expect(call.send(want())).toEqual(['say something']);
  });

  test('never overlaps another one in the conversation, and always comes, whatever happens in between', () => {
    const step = fc.oneof(
      fc.constantFrom<HeldCallEvent[]>([want()], [want('x')], [{ type: 'INTERRUPT', at }]),
      fc.nat(3).map((n) => [start(`r${n}`)]),
      fc.nat(3).map((n) => [end(`r${n}`)]),
    );
    const holds = fc.property(fc.array(step, { maxLength: 40 }), (sequence) => {
      const call = new Call();
      const running = new Set<string>();
      let isWanted = false;
      for (const event of sequence.flat()) {
        if (event.type === 'RESPONSE_STARTED') {
          if (running.size > 0) continue;
          running.add(event.response.id);
        }
        if (event.type === 'RESPONSE_DONE') running.delete(event.id);
        if (event.type === 'RESPONSE_WANTED') isWanted = true;
        if (event.type === 'INTERRUPT') isWanted = false;
        const asked = call.send(event).filter((words) => words.startsWith('say'));
        expect(asked.length).toBeLessThanOrEqual(running.size > 0 ? 0 : 1);
        if (asked.length === 0) continue;
        expect(isWanted).toBe(true);
        isWanted = false;
        call.send(start('ours'));
        running.add('ours');
        call.send(end('ours'));
        running.delete('ours');
      }
      expect(isWanted && running.size === 0).toBe(false);
    });
    fc.assert(holds, examples(300));
  });
});
