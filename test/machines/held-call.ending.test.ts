import { describe, expect, test } from 'vitest';
import type { HeldCallCommand, HeldCallEvent } from '../../machines/held-call/types.ts';
import { HeldCallState } from '../../src/calls/held-call-state.ts';
import { everyEvent, newCall, response, steps } from './held-call-support.ts';
import { SECOND } from './voice-call-support.ts';

const from = 4 * SECOND;

/** A call that is open and heard. */
class Call {
  readonly #held = new HeldCallState(steps, newCall);
  at = from;

  constructor() {
    for (const name of ['DIAL', 'ATTACHED', 'RECORD, open'])
      this.#held.send(everyEvent(3 * SECOND)[name] as HeldCallEvent);
  }

  #send(event: HeldCallEvent): readonly string[] {
    return this.#held.send(event).flatMap(wordsOf);
  }

  want = () => this.#send({ type: 'RESPONSE_WANTED', at: this.at, instructions: null });
  lastWords = () => this.#send({ type: 'LAST_WORDS', at: this.at });
  /** What happens when a tool gives an answer that ends the session. */
  wantLast = () => [this.lastWords(), this.want()].flat();
  begin = (id: string) =>
    this.#send({ type: 'RESPONSE_STARTED', at: this.at, response: response(id), isAffordable: true });
  end = (id: string) => this.#send({ type: 'RESPONSE_DONE', at: this.at, id, isTold: true });
  hear = (isOn: boolean, responseId?: string) =>
    this.#send({ type: 'SPEECH', at: this.at, who: 'agent', isOn, responseId });
  refuse = (isBusy: boolean) => this.#send({ type: 'RESPONSE_REFUSED', at: this.at, isBusy, instructions: null });
  interrupt = () => this.#send({ type: 'INTERRUPT', at: this.at });

  /** Lets time pass and sends CLOCK. */
  pass(ms: number): readonly string[] {
    this.at += ms;
    return this.#send({ type: 'CLOCK', at: this.at, mayHear: true });
  }
}

function wordsOf(command: HeldCallCommand): string[] {
  if (command.type === 'createResponse') return ['say'];
  return command.type === 'save' && command.event.type === 'CLOSE' ? [`close ${command.event.reason}`] : [];
}

describe('A call whose tool ends the session', () => {
  test.each([['r1'], [undefined]])(
    'is closed once the requested response is done and has been played to its end (named %s)',
    (name) => {
      const call = new Call();
      expect(call.wantLast()).toEqual(['say']);
      expect([call.begin('r1'), call.hear(true, name), call.end('r1'), call.pass(30 * SECOND)].flat()).toEqual([]);
      expect(call.hear(false, name)).toEqual(['close tool_ended']);
      expect(call.hear(false, name)).toEqual([]);
    },
  );

  test('is not closed by the end of the agent’s earlier words, however fast the last words were made', () => {
    const call = new Call();
    call.begin('r0');
    call.hear(true, 'r0');
    call.end('r0');
    call.wantLast();
    expect([call.begin('r1'), call.end('r1'), call.pass(10 * SECOND)].flat()).toEqual([]);
    expect([call.hear(false, 'r0'), call.pass(1999), call.hear(true, 'r1'), call.pass(20 * SECOND)].flat()).toEqual([]);
    expect(call.hear(false, 'r1')).toEqual(['close tool_ended']);
    const silent = new Call();
    silent.begin('r0');
    silent.hear(true, 'r0');
    silent.end('r0');
    silent.wantLast();
    silent.begin('r1');
    silent.end('r1');
    expect([silent.hear(false, 'r0'), silent.pass(1999), silent.pass(1)]).toEqual([[], [], ['close tool_ended']]);
  });

  test('waits a moment for the audio of a finished response, and not for more audio than there is', () => {
    const call = new Call();
    call.wantLast();
    call.begin('r1');
    expect([call.end('r1'), call.pass(1999)].flat()).toEqual([]);
    expect([call.hear(true), call.pass(5 * SECOND)].flat()).toEqual([]);
    expect(call.hear(false)).toEqual(['close tool_ended']);
    const silent = new Call();
    silent.wantLast();
    silent.begin('r1');
    silent.end('r1');
    expect([silent.pass(1999), silent.pass(1)]).toEqual([[], ['close tool_ended']]);
  });

  test('does not take earlier speech, or a response that ran meanwhile, for the last words', () => {
    const call = new Call();
    call.begin('r0');
    call.hear(true);
    expect(call.wantLast()).toEqual([]);
    expect(call.hear(false)).toEqual([]);
    expect(call.end('r0')).toEqual(['say']);
    // The provider started a response on its own.
    expect([call.begin('r1'), call.refuse(true)].flat()).toEqual([]);
    expect(call.end('r1')).toEqual(['say']);
    call.begin('r2');
    call.hear(true);
    call.end('r2');
    expect(call.hear(false)).toEqual(['close tool_ended']);
  });

  test('takes the response that a page requests after answering other tools for the last words', () => {
    const call = new Call();
    call.lastWords();
    call.begin('r1');
    call.hear(true);
    call.end('r1');
    expect(call.hear(false)).toEqual(['close tool_ended']);
  });

  test('is closed even if a page keeps getting its own responses in first', () => {
    const call = new Call();
    call.wantLast();
    let closed: readonly string[] = [];
    for (let n = 0; n < 10 && closed.length === 0; n += 1) {
      call.begin(`r${n}`);
      closed = [call.pass(30 * SECOND), call.refuse(true), call.end(`r${n}`), call.pass(0)].flat();
      closed = closed.filter((words) => words !== 'say');
    }
    expect(closed).toEqual(['close tool_ended']);
    expect(call.at - from).toBeLessThanOrEqual(180 * SECOND);
  });

  test('is closed even if the visitor keeps the agent talking after last words without sound', () => {
    const call = new Call();
    call.wantLast();
    call.begin('r1');
    call.end('r1');
    let closed: readonly string[] = [];
    for (let n = 2; n < 100 && closed.length === 0; n += 1) {
      call.want();
      call.begin(`r${n}`);
      closed = [call.pass(SECOND), call.hear(true, `r${n}`), call.end(`r${n}`), call.pass(20 * SECOND)].flat();
      closed = [...closed, call.hear(false, `r${n}`)].flat();
    }
    expect(closed).toEqual(['close tool_ended']);
    expect(call.at - from).toBeLessThanOrEqual(140 * SECOND);
  });

  test.each([
    ['the response never begins', () => undefined],
    ['the provider makes none', (call: Call) => call.refuse(false)],
    ['the visitor interrupts before it begins', (call: Call) => call.interrupt()],
    ['it never ends', (call: Call) => call.begin('r1')],
    ['it is never said to be played', (call: Call) => [call.begin('r1'), call.hear(true), call.end('r1')]],
  ])('is closed after a minute if %s', (_, happens) => {
    const call = new Call();
    call.wantLast();
    happens(call);
    expect([call.pass(59_999), call.pass(1)]).toEqual([[], ['close tool_ended']]);
  });

  test('goes on if no tool has asked to end it', () => {
    const call = new Call();
    call.want();
    expect([call.begin('r1'), call.hear(true), call.end('r1'), call.hear(false), call.pass(600_000)].flat()).toEqual(
      [],
    );
  });

  test('waits for the last words once, however many tools ask for the end', () => {
    const call = new Call();
    call.wantLast();
    call.begin('r1');
    call.end('r1');
    expect([call.lastWords(), call.pass(1999), call.pass(1)]).toEqual([[], [], ['close tool_ended']]);
  });
});
