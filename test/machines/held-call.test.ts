import { describe, expect, test } from 'vitest';
import { getShortestPaths } from 'xstate/graph';
import { heldCallMachine } from '../../machines/held-call/machine.ts';
import { heldStates, type HeldStates } from '../../machines/held-call/selectors.ts';
import type { HeldCallCommand, HeldCallContext, HeldCallEvent } from '../../machines/held-call/types.ts';
import type { Snapshot } from '../../src/actors/steps.ts';
import { HeldCallState } from '../../src/calls/held-call-state.ts';
import { everyEvent, newCall, records, response, steps, terms } from './held-call-support.ts';
import { SECOND } from './voice-call-support.ts';

const AT = 4 * SECOND;

/** The events that bring a call that the provider has created into each situation, all at second 3. */
const situations: Readonly<Record<string, readonly string[]>> = {
  created: [],
  'dialled first': ['DIAL'],
  'heard, before it is open': ['DIAL', 'ATTACHED'],
  open: ['DIAL', 'ATTACHED', 'RECORD, open'],
  'open, r1 runs': ['DIAL', 'ATTACHED', 'RECORD, open', 'r1'],
  'lost, being saved': ['DIAL', 'ATTACHED', 'RECORD, open', 'SIDEBAND_LOST'],
  'lost, not saved': ['DIAL', 'ATTACHED', 'RECORD, open', 'SIDEBAND_LOST', 'SAVE_FAILED, away'],
  lost: ['DIAL', 'ATTACHED', 'RECORD, open', 'r1', 'SIDEBAND_LOST', 'RECORD, unheard', 'SAVED'],
  dropped: ['DIAL', 'ATTACHED', 'RECORD, open', 'LEASE_LOST', 'RECORD, unheard', 'SAVED'],
  'dialled again': ['TAKEN', 'RECORD, unheard', 'CLOCK'],
  'handed over': ['DIAL', 'ATTACHED', 'RECORD, open', 'HAND_OVER', 'RECORD, unheard', 'SAVED'],
  'wanted, being saved': ['DIAL', 'ATTACHED', 'RECORD, open', 'r1', 'CLOSE'],
  'wanted, not saved': ['DIAL', 'ATTACHED', 'RECORD, open', 'r1', 'CLOSE', 'SAVE_FAILED'],
  'said over, hang-ups awaited': ['DIAL', 'ATTACHED', 'RECORD, open', 'OVER'],
  asking: ['DIAL', 'ATTACHED', 'RECORD, open', 'r1', 'CLOSE', 'RECORD, closing', 'SAVED'],
  'asking, said over, cancelling': [
    'DIAL',
    'ATTACHED',
    'RECORD, open',
    'r1',
    'CLOSE',
    'RECORD, said over',
    'SAVED',
    'CANCEL_SPEECH',
  ],
};

function bring(events: readonly string[]): Snapshot<HeldCallContext> {
  const known = everyEvent(3 * SECOND);
  const r1: HeldCallEvent = {
    type: 'RESPONSE_STARTED',
    at: 3 * SECOND,
    response: response('r1'),
    isAffordable: true,
  };
  return events.reduce(
    (snapshot, name) => steps.send(snapshot, name === 'r1' ? r1 : (known[name] as HeldCallEvent))[0],
    steps.begin(newCall),
  );
}

function wordsOf(command: HeldCallCommand): string {
  if (command.type === 'save') return `save ${command.event.type}${command.isCountedFirst ? ' once counted' : ''}`;
  if (command.type === 'cancelResponse') return `cancel ${command.id ?? 'whatever runs'}`;
  if (command.type === 'charge') return `charge ${command.key}`;
  return command.type;
}

function placeOf({ value }: Snapshot<HeldCallContext>): string {
  const states = heldStates(value);
  return states === undefined ? String(value) : Object.values({ ...states }).join(' ');
}

/** For each situation its states, and what each event does: the new states if they change, and the commands. */
function rows(): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Object.entries(situations).map(([situation, events]) => {
      const snapshot = bring(events);
      const told = Object.entries(everyEvent(AT)).flatMap(([name, event]) => {
        const [next, commands] = steps.send(snapshot, event);
        const place = placeOf(next) === placeOf(snapshot) ? [] : [placeOf(next)];
        const words = [...place, ...commands.map(wordsOf)].join(', ');
        return words === '' ? [] : [[name, words] as const];
      });
      return [situation, { is: placeOf(snapshot), ...Object.fromEntries(told) }];
    }),
  );
}

/** The regions of the machine, each with its states. */
const regions = heldCallMachine.states.held?.states ?? {};

/** An event that is left out does nothing: the states stay, and no command is emitted. */
const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  created: {
    is: 'undialled saved none quiet',
    TAKEN: 'lost saved none running',
    CLOSE: 'undialled saving wanted quiet, save CLOSE',
    DIAL: 'dialling saved none quiet',
    HAND_OVER: 'closed saved none quiet, closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'undialled saving wanted quiet, awaitHangUps',
    'RECORD, open': 'undialled saving none quiet, save SIDEBAND_LOST',
    'RECORD, closing': 'undialled saved asking quiet',
    'RECORD, said over': 'undialled saved asking quiet',
    'RECORD, closed': 'over, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'undialled saved none cancelling',
    RESPONSE_STARTED: 'undialled saved none running',
    'RESPONSE_STARTED, too long': 'undialled saved none running',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'undialled saved none running',
  },
  'dialled first': {
    is: 'dialling saved none quiet',
    TAKEN: 'dialling saved none running',
    CLOSE: 'dialling saving wanted quiet, save CLOSE',
    ATTACHED: 'heard saved none quiet',
    DIAL_FAILED: 'lost saved none quiet',
    'DIAL_FAILED, is over': 'lost saving wanted quiet, awaitHangUps',
    HAND_OVER: 'closed saved none quiet, closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'dialling saving wanted quiet, awaitHangUps',
    'RECORD, open': 'dialling saving none quiet, save SIDEBAND_LOST',
    'RECORD, closing': 'dialling saved asking quiet',
    'RECORD, said over': 'dialling saved asking quiet',
    'RECORD, closed': 'over, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'dialling saved none cancelling',
    RESPONSE_STARTED: 'dialling saved none running',
    'RESPONSE_STARTED, too long': 'dialling saved none running',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'dialling saved none running',
  },
  'heard, before it is open': {
    is: 'heard saved none quiet',
    INTERRUPT: 'clearSpeech',
    TAKEN: 'heard saved none running',
    CLOSE: 'heard saving wanted quiet, save CLOSE',
    SIDEBAND_LOST: 'lost saved none quiet',
    'SIDEBAND_LOST, left': 'lost saved none quiet',
    LEASE_LOST: 'dropped saved none quiet, closeSideband',
    HAND_OVER: 'closed saved none quiet, closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'heard saving wanted quiet, awaitHangUps',
    'RECORD, unheard': 'heard saving none quiet, gap, save READY once counted',
    'RECORD, closing': 'heard saved asking quiet',
    'RECORD, said over': 'heard saved asking quiet',
    'RECORD, closed': 'over, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'heard saved none cancelling',
    RESPONSE_STARTED: 'heard saved none running',
    'RESPONSE_STARTED, too long': 'heard saved none running, cancel long',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'heard saved none running, cancel r1',
    CONFIG_CHANGED: 'restoreConfig',
  },
  open: {
    is: 'heard saved none quiet',
    INTERRUPT: 'clearSpeech',
    RESPONSE_WANTED: 'createResponse',
    TAKEN: 'heard saved none running',
    CLOSE: 'heard saving wanted quiet, save CLOSE',
    SIDEBAND_LOST: 'lost saving none quiet, save SIDEBAND_LOST',
    'SIDEBAND_LOST, left': 'lost saving none quiet, save SIDEBAND_LOST',
    LEASE_LOST: 'dropped saving none quiet, closeSideband, save SIDEBAND_LOST',
    HAND_OVER: 'closed saving none quiet, closeSideband, save SIDEBAND_LOST',
    RELEASE: 'released, closeSideband',
    OVER: 'heard saving wanted quiet, awaitHangUps',
    'RECORD, unheard': 'heard saving none quiet, gap, save READY once counted',
    'RECORD, closing': 'heard saved asking quiet, left',
    'RECORD, said over': 'heard saved asking quiet, left',
    'RECORD, closed': 'over, left, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'heard saved none cancelling',
    RESPONSE_STARTED: 'heard saved none running',
    'RESPONSE_STARTED, too long': 'heard saved none running, cancel long',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'heard saved none running, cancel r1',
    CONFIG_CHANGED: 'restoreConfig',
  },
  'open, r1 runs': {
    is: 'heard saved none running',
    INTERRUPT: 'cancel r1, clearSpeech',
    CLOSE: 'heard saving wanted running, save CLOSE',
    SIDEBAND_LOST: 'lost saving none running, save SIDEBAND_LOST',
    'SIDEBAND_LOST, left': 'lost saving none running, save SIDEBAND_LOST',
    LEASE_LOST: 'dropped saving none running, closeSideband, save SIDEBAND_LOST',
    HAND_OVER: 'closed saving none running, closeSideband, save SIDEBAND_LOST',
    RELEASE: 'released, closeSideband',
    OVER: 'heard saving wanted running, awaitHangUps',
    'RECORD, unheard': 'heard saving none running, gap, save READY once counted',
    'RECORD, closing': 'heard saved asking running, left',
    'RECORD, said over': 'heard saved asking running, left',
    'RECORD, closed': 'over, left, charge r1, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'heard saved none cancelling, cancel r1',
    CUT_OFF: 'cancel r1',
    SETTLE: 'heard saved none quiet, charge r1',
    SETTLE_RESPONSES: 'heard saved none quiet, charge r1',
    'RESPONSE_STARTED, too long': 'cancel long',
    'RESPONSE_DONE, told': 'heard saved none quiet, quiet',
    'RESPONSE_DONE, untold': 'heard saved none quiet, charge r1, quiet',
    CONFIG_CHANGED: 'restoreConfig',
  },
  'lost, being saved': {
    is: 'lost saving none quiet',
    TAKEN: 'lost saving none running',
    CLOSE: 'lost saving wanted quiet',
    DIAL: 'dialling saving none quiet',
    LEASE_LOST: 'dropped saving none quiet',
    HAND_OVER: 'closed saving none quiet, closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'lost saving wanted quiet',
    'RECORD, closing': 'lost saving asking quiet, left',
    'RECORD, said over': 'lost saving asking quiet, left',
    'RECORD, closed': 'over, left, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    SAVED: 'lost behind none quiet',
    SAVE_FAILED: 'lost behind none quiet',
    'SAVE_FAILED, away': 'lost behind none quiet',
    CANCEL_SPEECH: 'lost saving none cancelling',
    RESPONSE_STARTED: 'lost saving none running',
    'RESPONSE_STARTED, too long': 'lost saving none running',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'lost saving none running',
  },
  'lost, not saved': {
    is: 'lost behind none quiet',
    TAKEN: 'lost behind none running',
    CLOSE: 'lost saving wanted quiet, save CLOSE',
    DIAL: 'dialling behind none quiet',
    ATTACHED: 'lost saving none quiet, save SIDEBAND_LOST',
    DIAL_FAILED: 'lost saving none quiet, save SIDEBAND_LOST',
    'DIAL_FAILED, is over': 'lost saving none quiet, save SIDEBAND_LOST',
    SIDEBAND_LOST: 'lost saving none quiet, save SIDEBAND_LOST',
    'SIDEBAND_LOST, left': 'lost saving none quiet, save SIDEBAND_LOST',
    LEASE_LOST: 'dropped behind none quiet',
    HAND_OVER: 'closed saving none quiet, closeSideband, save SIDEBAND_LOST',
    RELEASE: 'released, closeSideband',
    OVER: 'lost saving wanted quiet, awaitHangUps',
    'RECORD, closing': 'lost behind asking quiet, left',
    'RECORD, said over': 'lost behind asking quiet, left',
    'RECORD, closed': 'over, left, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'lost behind none cancelling',
    CLOCK: 'lost saving none quiet, save SIDEBAND_LOST',
    'CLOCK, without a lease': 'lost saving none quiet, save SIDEBAND_LOST',
    RESPONSE_STARTED: 'lost behind none running',
    'RESPONSE_STARTED, too long': 'lost behind none running',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'lost behind none running',
  },
  lost: {
    is: 'lost saved none running',
    CLOSE: 'lost saving wanted running, save CLOSE',
    DIAL: 'dialling saved none running',
    LEASE_LOST: 'dropped saved none running',
    HAND_OVER: 'closed saved none running, closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'lost saving wanted running, awaitHangUps',
    'RECORD, closing': 'lost saving asking running, left, save SIDEBAND_LOST',
    'RECORD, said over': 'lost saving asking running, left, save SIDEBAND_LOST',
    'RECORD, closed': 'over, gap, left, charge r1, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    SAVED: 'dialling saved none running, dial',
    CANCEL_SPEECH: 'lost saved none cancelling',
    SETTLE: 'lost saved none quiet, charge r1, gap',
    SETTLE_RESPONSES: 'lost saved none quiet, charge r1',
    CLOCK: 'dialling saved none running, dial',
    'RESPONSE_DONE, told': 'lost saved none quiet, quiet',
    'RESPONSE_DONE, untold': 'lost saved none quiet, charge r1, quiet',
  },
  dropped: {
    is: 'dropped saved none quiet',
    TAKEN: 'dropped saved none running',
    CLOSE: 'dropped saving wanted quiet, save CLOSE',
    DIAL: 'dialling saved none quiet',
    HAND_OVER: 'closed saved none quiet, closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'dropped saving wanted quiet, awaitHangUps',
    'RECORD, closing': 'dropped saving asking quiet, left, save SIDEBAND_LOST',
    'RECORD, said over': 'dropped saving asking quiet, left, save SIDEBAND_LOST',
    'RECORD, closed': 'over, gap, left, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    SAVED: 'dialling saved none quiet, dial',
    CANCEL_SPEECH: 'dropped saved none cancelling',
    SETTLE: 'gap',
    CLOCK: 'dialling saved none quiet, dial',
    RESPONSE_STARTED: 'dropped saved none running',
    'RESPONSE_STARTED, too long': 'dropped saved none running',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'dropped saved none running',
  },
  'dialled again': {
    is: 'dialling saved none running',
    CLOSE: 'dialling saving wanted running, save CLOSE',
    ATTACHED: 'heard saving none running, gap, save READY once counted',
    DIAL_FAILED: 'lost saved none running',
    'DIAL_FAILED, is over': 'lost saving wanted running, awaitHangUps',
    HAND_OVER: 'closed saved none running, closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'dialling saving wanted running, awaitHangUps',
    'RECORD, closing': 'dialling saving asking running, left, save SIDEBAND_LOST',
    'RECORD, said over': 'dialling saving asking running, left, save SIDEBAND_LOST',
    'RECORD, closed': 'over, gap, left, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'dialling saved none cancelling',
    SETTLE: 'dialling saved none quiet, gap',
    SETTLE_RESPONSES: 'dialling saved none quiet',
    'RESPONSE_DONE, told': 'dialling saved none quiet, quiet',
    'RESPONSE_DONE, untold': 'dialling saved none quiet, charge r1, quiet',
    CONVERSATION_IDLE: 'dialling saved none quiet',
  },
  'handed over': {
    is: 'closed saved none quiet',
    TAKEN: 'closed saved none running',
    CLOSE: 'closed saving wanted quiet, save CLOSE',
    HAND_OVER: 'closeSideband',
    RELEASE: 'released, closeSideband',
    OVER: 'closed saving wanted quiet, awaitHangUps',
    'RECORD, closing': 'closed saving asking quiet, left, save SIDEBAND_LOST',
    'RECORD, said over': 'closed saving asking quiet, left, save SIDEBAND_LOST',
    'RECORD, closed': 'over, gap, left, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'closed saved none cancelling',
    SETTLE: 'gap',
    RESPONSE_STARTED: 'closed saved none running',
    'RESPONSE_STARTED, too long': 'closed saved none running',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'closed saved none running',
  },
  'wanted, being saved': {
    is: 'heard saving wanted running',
    INTERRUPT: 'cancel r1, clearSpeech',
    SIDEBAND_LOST: 'lost saving wanted running',
    'SIDEBAND_LOST, left': 'lost saving wanted running',
    LEASE_LOST: 'dropped saving wanted running, closeSideband',
    HAND_OVER: 'closed saving wanted running, closeSideband',
    RELEASE: 'released, closeSideband',
    'RECORD, closing': 'heard saving asking running, left',
    'RECORD, said over': 'heard saving asking running, left',
    'RECORD, closed': 'over, left, charge r1, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    SAVED: 'heard behind wanted running',
    SAVE_FAILED: 'heard behind wanted running',
    'SAVE_FAILED, away': 'heard behind wanted running, hangUp',
    CANCEL_SPEECH: 'heard saving wanted cancelling, cancel r1',
    CUT_OFF: 'cancel r1',
    SETTLE: 'heard saving wanted quiet, charge r1',
    SETTLE_RESPONSES: 'heard saving wanted quiet, charge r1',
    'RESPONSE_STARTED, too long': 'cancel long',
    'RESPONSE_DONE, told': 'heard saving wanted quiet, quiet',
    'RESPONSE_DONE, untold': 'heard saving wanted quiet, charge r1, quiet',
    CONFIG_CHANGED: 'restoreConfig',
  },
  'wanted, not saved': {
    is: 'heard behind wanted running',
    INTERRUPT: 'cancel r1, clearSpeech',
    CLOSE: 'heard saving wanted running, save CLOSE',
    ATTACHED: 'heard saving wanted running, save CLOSE',
    DIAL_FAILED: 'heard saving wanted running, save CLOSE',
    'DIAL_FAILED, is over': 'heard saving wanted running, save CLOSE',
    SIDEBAND_LOST: 'lost saving wanted running, save CLOSE',
    'SIDEBAND_LOST, left': 'lost saving wanted running, save CLOSE',
    LEASE_LOST: 'dropped behind wanted running, closeSideband',
    HAND_OVER: 'closed saving wanted running, closeSideband, save CLOSE',
    RELEASE: 'released, closeSideband',
    OVER: 'heard saving wanted running, awaitHangUps',
    'RECORD, closing': 'heard behind asking running, left',
    'RECORD, said over': 'heard behind asking running, left',
    'RECORD, closed': 'over, left, charge r1, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'heard behind wanted cancelling, cancel r1',
    CUT_OFF: 'cancel r1',
    SETTLE: 'heard behind wanted quiet, charge r1',
    SETTLE_RESPONSES: 'heard behind wanted quiet, charge r1',
    CLOCK: 'heard saving wanted running, save CLOSE',
    'CLOCK, without a lease': 'heard saving wanted running, save CLOSE',
    'RESPONSE_STARTED, too long': 'cancel long',
    'RESPONSE_DONE, told': 'heard behind wanted quiet, quiet',
    'RESPONSE_DONE, untold': 'heard behind wanted quiet, charge r1, quiet',
    CONFIG_CHANGED: 'restoreConfig',
  },
  'said over, hang-ups awaited': {
    is: 'heard saving wanted quiet',
    INTERRUPT: 'clearSpeech',
    TAKEN: 'heard saving wanted running',
    SIDEBAND_LOST: 'lost saving wanted quiet',
    'SIDEBAND_LOST, left': 'lost saving wanted quiet',
    LEASE_LOST: 'dropped saving wanted quiet, closeSideband',
    HAND_OVER: 'closed saving wanted quiet, closeSideband',
    RELEASE: 'released, closeSideband',
    'RECORD, closing': 'heard saving asking quiet, left',
    'RECORD, said over': 'heard saving asking quiet, left',
    'RECORD, closed': 'over, left, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    SAVED: 'heard saved none quiet',
    SAVE_FAILED: 'heard behind wanted quiet',
    'SAVE_FAILED, away': 'heard behind wanted quiet',
    HANGUPS_SETTLED: 'save OVER',
    CANCEL_SPEECH: 'heard saving wanted cancelling',
    RESPONSE_STARTED: 'heard saving wanted running',
    'RESPONSE_STARTED, too long': 'heard saving wanted running, cancel long',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'quiet',
    RESPONSE_HEARD: 'heard saving wanted running, cancel r1',
    CONFIG_CHANGED: 'restoreConfig',
  },
  asking: {
    is: 'heard saved asking running',
    INTERRUPT: 'cancel r1, clearSpeech',
    TAKEN: 'heard saving asking running, save SIDEBAND_LOST',
    SIDEBAND_LOST: 'lost saving asking running, save SIDEBAND_LOST',
    'SIDEBAND_LOST, left': 'lost saved asking running',
    LEASE_LOST: 'dropped saving asking running, closeSideband, save SIDEBAND_LOST',
    HAND_OVER: 'closed saving asking running, closeSideband, save SIDEBAND_LOST',
    RELEASE: 'released, closeSideband',
    OVER: 'heard saving asking running, awaitHangUps',
    'RECORD, closed': 'over, charge r1, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'heard saved asking cancelling, cancel r1',
    CUT_OFF: 'cancel r1',
    SETTLE: 'heard saved asking quiet, charge r1',
    SETTLE_RESPONSES: 'heard saved asking quiet, charge r1',
    'RESPONSE_STARTED, too long': 'cancel long',
    'RESPONSE_DONE, told': 'heard saved asking quiet, quiet',
    'RESPONSE_DONE, untold': 'heard saved asking quiet, charge r1, quiet',
    CONFIG_CHANGED: 'restoreConfig',
  },
  'asking, said over, cancelling': {
    is: 'heard saved asking cancelling',
    INTERRUPT: 'clearSpeech',
    TAKEN: 'heard saving asking cancelling, save SIDEBAND_LOST',
    SIDEBAND_LOST: 'lost saving asking cancelling, save SIDEBAND_LOST',
    'SIDEBAND_LOST, left': 'lost saving asking cancelling, awaitHangUps',
    LEASE_LOST: 'dropped saving asking cancelling, closeSideband, save SIDEBAND_LOST',
    HAND_OVER: 'closed saving asking cancelling, closeSideband, save SIDEBAND_LOST',
    RELEASE: 'released, closeSideband',
    OVER: 'heard saving asking cancelling, awaitHangUps',
    ALIVE: 'saveAlive',
    'RECORD, closed': 'over, charge r1, closeSideband',
    'RECORD, another’s': 'released, closeSideband',
    CANCEL_SPEECH: 'cancel r1',
    CUT_OFF: 'cancel r1',
    SETTLE: 'charge r1',
    SETTLE_RESPONSES: 'charge r1',
    RESPONSE_STARTED: 'cancel new',
    'RESPONSE_STARTED, too long': 'cancel long',
    'RESPONSE_DONE, told': 'quiet',
    'RESPONSE_DONE, untold': 'charge r1, quiet',
    CONFIG_CHANGED: 'restoreConfig',
  },
};

describe('A held call', () => {
  const { creating, open, unheard } = records;
  const begun = Object.entries({ creating, open, unheard }).flatMap(([name, record]) =>
    [true, false].flatMap((needsSideband) =>
      [true, false].map((isDiallable) => [name, needsSideband, isDiallable, record] as const),
    ),
  );

  test.each(begun)(
    'saves its end, whatever its record was at the start: %s, needs a sideband %s, diallable %s',
    (_, needsSideband, isDiallable, record) => {
      const at = 60 * SECOND;
      const call = new HeldCallState(steps, { record, needsSideband, isDiallable, terms, askAfterMs: null });
      const done = [
        ...call.send({ type: 'CLOCK', at, mayHear: true }),
        ...call.send({ type: 'CLOSE', at, reason: 'session_ended' }),
        ...call.send({ type: 'CLOCK', at: at + SECOND, mayHear: true }),
      ].map(({ type }) => type);
      expect(done).toContain('save');
    },
  );

  const found = rows();

  test.each(Object.keys(situations))('%s: handles each event as the table says', (situation) => {
    expect(found[situation]).toEqual(table[situation]);
  });

  test('is in each of its states in some row, and gets each of its events in each row', () => {
    const named = new Set(Object.values(everyEvent(0)).map(({ type }) => type));
    expect([...named].toSorted()).toEqual(heldCallMachine.events.toSorted());
    const places = Object.values(table).map(({ is = '' }) => is.split(' '));
    Object.values(regions).forEach(({ states }, region) =>
      expect(new Set(places.map((place) => place[region]))).toEqual(new Set(Object.keys(states))),
    );
  });

  test.each(['RECORD, closed', 'RELEASE'])('does nothing more after %s', (last) => {
    const snapshot = bring(['DIAL', 'ATTACHED', 'RECORD, open', last]);
    expect(snapshot.status).toBe('done');
    for (const event of Object.values(everyEvent(AT))) expect(steps.send(snapshot, event)).toEqual([snapshot, []]);
  });
});

describe('The model of a held call', () => {
  test('reaches every state, and the end from each', () => {
    const events = Object.values(everyEvent(AT));
    const paths = getShortestPaths(heldCallMachine, {
      events,
      input: newCall,
      serializeState: ({ value }) => JSON.stringify(value),
    });
    const reached = paths.map(({ state }) => heldStates(state.value)).filter((states) => states !== undefined);
    for (const [name, { states }] of Object.entries(regions)) {
      const found = new Set(reached.map((each) => each[name as keyof HeldStates]));
      expect([...found].toSorted()).toEqual(Object.keys(states).toSorted());
    }
    const ends = paths.filter(({ state }) => state.status === 'done');
    expect(new Set(ends.map(({ state }) => state.value))).toEqual(new Set(['over', 'released']));
    for (const { state } of paths.filter((path) => path.state.status !== 'done')) {
      const { context } = state;
      const record = { ...records.closed, version: context.record.version + 1, fence: context.fence };
      const [next] = steps.send(state as Snapshot<HeldCallContext>, { type: 'RECORD', at: AT, record });
      expect(next.value).toBe('over');
    }
  });
});
