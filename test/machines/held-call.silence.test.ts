import { beforeEach, describe, expect, test } from 'vitest';
import type { HeldCallEvent } from '../../machines/held-call/types.ts';
import { HeldCallState } from '../../src/calls/held-call-state.ts';
import { everyEvent, records, response, steps, terms } from './held-call-support.ts';
import { SECOND } from './voice-call-support.ts';

const ASK_AFTER = 20 * SECOND;

describe('Silence in a call whose agent asks whether somebody is there', () => {
  let held: HeldCallState;
  let at: number;

  const hold = (askAfterMs: number | null): void => {
    held = new HeldCallState(steps, {
      record: records.creating,
      needsSideband: true,
      isDiallable: true,
      terms,
      askAfterMs,
    });
    at = 3 * SECOND;
    for (const name of ['DIAL', 'ATTACHED', 'RECORD, open']) send(everyEvent(at)[name] as HeldCallEvent);
  };
  const send = (event: HeldCallEvent): number => held.send(event).filter(({ type }) => type === 'askWhoIsThere').length;
  const speech = (who: 'visitor' | 'agent', isOn: boolean): number => send({ type: 'SPEECH', at, who, isOn });
  const begin = (id: string): number =>
    send({ type: 'RESPONSE_STARTED', at, response: response(id), isAffordable: true });
  const end = (id: string): number => send({ type: 'RESPONSE_DONE', at, id, isTold: true });
  /** Lets time pass. @returns how often the agent is asked to break the silence meanwhile */
  function pass(ms: number): number {
    let asked = 0;
    for (const untilMs = at + ms; at < untilMs;) {
      at = Math.min(untilMs, at + SECOND / 4);
      asked += send({ type: 'CLOCK', at, mayHear: true });
    }
    return asked;
  }

  beforeEach(() => hold(ASK_AFTER));

  test('is broken once it has lasted long enough, and not again before the visitor has spoken', () => {
    expect(pass(ASK_AFTER - 1)).toBe(0);
    expect(pass(1)).toBe(1);
    begin('r1');
    speech('agent', true);
    end('r1');
    speech('agent', false);
    expect(pass(10 * ASK_AFTER)).toBe(0);
    speech('visitor', true);
    speech('visitor', false);
    expect([pass(ASK_AFTER - 1), pass(1)]).toEqual([0, 1]);
    send({ type: 'WORDS', at });
    expect([pass(ASK_AFTER - 1), pass(1)]).toEqual([0, 1]);
  });

  test('counts from the end of any speech, and not while somebody is speaking or about to', () => {
    for (const who of ['visitor', 'agent'] as const) {
      speech(who, true);
      expect(pass(2 * ASK_AFTER)).toBe(0);
      speech(who, false);
    }
    expect(pass(ASK_AFTER - 1)).toBe(0);
    begin('r1');
    expect(pass(2 * ASK_AFTER)).toBe(0);
    end('r1');
    expect(pass(ASK_AFTER - 1)).toBe(0);
    send({ type: 'RESPONSE_WANTED', at, instructions: null });
    expect(pass(2 * ASK_AFTER)).toBe(0);
    begin('r2');
    end('r2');
    expect([pass(ASK_AFTER - 1), pass(1)]).toEqual([0, 1]);
  });

  test('does not count while the agent waits for a tool whose answer it will report', () => {
    begin('r1');
    send({ type: 'TOOL_CALLED', at });
    end('r1');
    expect(pass(2 * ASK_AFTER)).toBe(0);
    begin('r2');
    end('r2');
    expect(pass(ASK_AFTER)).toBe(1);
  });

  test('does not count while nobody hears the call, but from the next sideband on', () => {
    speech('visitor', true);
    for (const name of ['SIDEBAND_LOST', 'RECORD, unheard', 'SAVED']) send(everyEvent(at)[name] as HeldCallEvent);
    expect(pass(2 * ASK_AFTER)).toBe(0);
    send({ type: 'ATTACHED', at });
    // The record does not say yet that the call is heard again.
    send(everyEvent(at)['RECORD, open'] as HeldCallEvent);
    expect([pass(ASK_AFTER - 1), pass(1)]).toEqual([0, 1]);
  });

  test('is not broken if the call is to end, or if the agent does not ask', () => {
    send({ type: 'CLOSE', at, reason: 'session_ended' });
    expect(pass(2 * ASK_AFTER)).toBe(0);
    hold(null);
    expect(pass(100 * ASK_AFTER)).toBe(0);
  });
});
