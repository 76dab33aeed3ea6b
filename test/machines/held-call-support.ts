import { heldCallMachine } from '../../machines/held-call/machine.ts';
import type {
  HeldCallCommand,
  HeldCallEvent,
  HeldCallInput,
  ResponseTerms,
  StartedResponse,
} from '../../machines/held-call/types.ts';
import { isSecondWordDue, nextDeadline, provesOver } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
import { Steps } from '../../src/actors/steps.ts';
import { NO_TOKENS } from '../../src/protocol/price.ts';
import type { CallDeps } from '../../src/calls/deps.ts';
import { HeldCallState } from '../../src/calls/held-call-state.ts';
import { close, created, fresh, lost, over, play, ready, SECOND, taken } from './voice-call-support.ts';

export const steps: CallDeps['steps'] = new Steps(heldCallMachine);

export const terms: ResponseTerms = {
  max: 2,
  forbidsOverrides: true,
  setupTokens: 50,
  maxItemTokens: 12_000,
  maxResponseTokens: 4096,
};

export const response = (id: string, changes: Partial<StartedResponse> = {}): StartedResponse => ({
  id,
  isInConversation: true,
  maxOutputTokens: 1000,
  grantedTokens: 1000,
  modality: 'audio',
  ...changes,
});

function hold(record: CallRecord, changes: Partial<HeldCallInput> = {}): HeldCallState {
  return new HeldCallState(steps, {
    record,
    needsSideband: true,
    isDiallable: true,
    terms,
    askAfterMs: 10 * SECOND,
    ...changes,
  });
}

/** What a node holds of a call that it has just created and whose sideband it has to open. */
export const newCall: HeldCallInput = {
  record: play(fresh(), [created(SECOND)]).record,
  needsSideband: true,
  isDiallable: true,
  terms,
  askAfterMs: null,
};

/** Records of a call as a node may see them, named by what they say. */
export const records = {
  creating: play(fresh(), [created(SECOND)]).record,
  open: play(fresh(), [created(SECOND), ready(2 * SECOND)]).record,
  unheard: play(fresh(), [created(SECOND), ready(2 * SECOND), lost(3 * SECOND)]).record,
  closing: play(fresh(), [created(SECOND), ready(2 * SECOND), close(3 * SECOND)]).record,
  saidOver: play(fresh(), [created(SECOND), ready(2 * SECOND), over(3 * SECOND, 'lost', false)]).record,
  closed: play(fresh(), [created(SECOND), ready(2 * SECOND), over(3 * SECOND)]).record,
  anothers: play(fresh(), [created(SECOND), ready(2 * SECOND), taken(3 * SECOND)]).record,
} as const;

/** One event of each type, at one time; one of each kind where the outcome depends on the event's data. */
export function everyEvent(at: number): Readonly<Record<string, HeldCallEvent>> {
  const seen = (record: CallRecord, version: number): HeldCallEvent => ({
    type: 'RECORD',
    at,
    record: { ...record, version },
  });
  return {
    CREATED: { type: 'CREATED', at, providerCallId: 'rtc_1', providerEndsAtMs: 3600 * SECOND },
    TAKEN: { type: 'TAKEN', at, sinceMs: at - SECOND },
    CLOSE: { type: 'CLOSE', at, reason: 'session_ended' },
    DIAL: { type: 'DIAL', at },
    ATTACHED: { type: 'ATTACHED', at },
    DIAL_FAILED: { type: 'DIAL_FAILED', at, isOver: false, jitter: 0 },
    'DIAL_FAILED, is over': { type: 'DIAL_FAILED', at, isOver: true, jitter: 0 },
    SIDEBAND_LOST: { type: 'SIDEBAND_LOST', at, isLeft: false, isHangUpUnderWay: false, jitter: 0 },
    'SIDEBAND_LOST, left': { type: 'SIDEBAND_LOST', at, isLeft: true, isHangUpUnderWay: true, jitter: 0 },
    LEASE_LOST: { type: 'LEASE_LOST', at, jitter: 0 },
    HAND_OVER: { type: 'HAND_OVER', at },
    RELEASE: { type: 'RELEASE', at },
    OVER: { type: 'OVER', at, reason: 'remote' },
    ALIVE: { type: 'ALIVE', at },
    'RECORD, as known': seen(records.creating, 0),
    'RECORD, open': seen(records.open, 90),
    'RECORD, unheard': seen(records.unheard, 91),
    'RECORD, closing': seen(records.closing, 92),
    'RECORD, said over': seen(records.saidOver, 93),
    'RECORD, closed': seen(records.closed, 94),
    'RECORD, another’s': seen(records.anothers, 95),
    SAVED: { type: 'SAVED', at, mayHear: true },
    SAVE_FAILED: { type: 'SAVE_FAILED', at, isAway: false },
    'SAVE_FAILED, away': { type: 'SAVE_FAILED', at, isAway: true },
    HANGUPS_SETTLED: { type: 'HANGUPS_SETTLED', at },
    UNSAVED_HANGUP_ANSWERED: { type: 'UNSAVED_HANGUP_ANSWERED', at, askedAtMs: at, answer: 'asked' },
    CANCEL_SPEECH: { type: 'CANCEL_SPEECH', at },
    CUT_OFF: { type: 'CUT_OFF', at },
    SETTLE: { type: 'SETTLE', at },
    SETTLE_RESPONSES: { type: 'SETTLE_RESPONSES', at },
    CLOCK: { type: 'CLOCK', at, mayHear: true },
    'CLOCK, without a lease': { type: 'CLOCK', at, mayHear: false },
    RESPONSE_STARTED: { type: 'RESPONSE_STARTED', at, response: response('new'), isAffordable: true },
    'RESPONSE_STARTED, too long': {
      type: 'RESPONSE_STARTED',
      at,
      response: response('long', { maxOutputTokens: 2000 }),
      isAffordable: true,
    },
    'RESPONSE_DONE, told': { type: 'RESPONSE_DONE', at, id: 'r1', isTold: true },
    'RESPONSE_DONE, untold': { type: 'RESPONSE_DONE', at, id: 'r1', isTold: false },
    RESPONSE_HEARD: { type: 'RESPONSE_HEARD', at, id: 'r1', tokens: 3 },
    USAGE: { type: 'USAGE', at, id: 'r1', tokens: NO_TOKENS },
    ITEM_ADDED: { type: 'ITEM_ADDED', at, id: 'item', tokens: 10 },
    CONVERSATION_IDLE: { type: 'CONVERSATION_IDLE', at },
    RESPONSE_WANTED: { type: 'RESPONSE_WANTED', at, instructions: null },
    LAST_WORDS: { type: 'LAST_WORDS', at },
    ANSWER_TAKEN: { type: 'ANSWER_TAKEN', at },
    'RESPONSE_REFUSED, busy': { type: 'RESPONSE_REFUSED', at, isBusy: true, instructions: null },
    'RESPONSE_REFUSED, for good': { type: 'RESPONSE_REFUSED', at, isBusy: false, instructions: null },
    INTERRUPT: { type: 'INTERRUPT', at },
    TOOL_CALLED: { type: 'TOOL_CALLED', at },
    'SPEECH, visitor': { type: 'SPEECH', at, who: 'visitor', isOn: true },
    'SPEECH, agent': { type: 'SPEECH', at, who: 'agent', isOn: false },
    WORDS: { type: 'WORDS', at },
    CONFIG_CHANGED: { type: 'CONFIG_CHANGED', at, isAsSdk: false },
    CONFIG_RESTORED: { type: 'CONFIG_RESTORED', at },
    GRANTED: { type: 'GRANTED', at, tokens: 500 },
  };
}

type Work =
  | Extract<HeldCallCommand, { type: 'save' | 'awaitHangUps' }>
  | { readonly type: 'dial'; readonly isFirst: boolean }
  | { readonly type: 'hangUp'; readonly askedAtMs: number; readonly isSaved: boolean; readonly call: CallRecord };

/** A held call and the world around it: a store and a provider that may be away, and a clock that the test moves. */
export class HeldCallWorld {
  readonly held: HeldCallState;
  at = 2 * SECOND;
  record: CallRecord;
  isStoreAway = false;
  isProviderAway = false;
  mayHear = true;
  /** Whether the provider still has the call. */
  isLive = true;
  hasSideband = false;
  isSaidOver = false;
  /** Work in progress, oldest first. */
  readonly works: Work[] = [];
  readonly commands: HeldCallCommand[] = [];
  /** The times at which the provider was asked to hang up. */
  readonly hangUps: number[] = [];
  isReleased = false;
  /** Runs after each event. */
  check: (event: HeldCallEvent, commands: readonly HeldCallCommand[]) => void = () => undefined;

  /** @param isTaken whether this node took the open call over from another */
  constructor(isTaken = false) {
    const opened = isTaken ? [ready(SECOND), taken(this.at, 'one', SECOND)] : [];
    this.record = play(fresh(), [created(SECOND), ...opened]).record;
    this.held = hold(this.record);
    if (isTaken) {
      this.send({ type: 'TAKEN', at: this.at, sinceMs: SECOND });
      return;
    }
    this.send({ type: 'DIAL', at: this.at });
    this.#attach();
    this.#save({ type: 'READY', at: this.at });
  }

  send(event: HeldCallEvent): void {
    const commands = this.held.send(event);
    this.commands.push(...commands);
    for (const command of commands) this.#do(command);
    this.check(event, commands);
  }

  /** Lets time pass and starts what has fallen due. */
  pass(ms: number): void {
    this.at += ms;
    this.send({ type: 'CLOCK', at: this.at, mayHear: this.mayHear });
    if (!this.isStoreAway && !this.isReleased) this.#runDue();
  }

  /** Finishes a piece of work in progress. */
  finish(index = 0): void {
    const [work] = this.works.splice(index % Math.max(1, this.works.length), 1);
    if (work === undefined) return;
    if (work.type === 'save') this.#finishSave(work.event);
    if (work.type === 'awaitHangUps') this.#finishWait(work);
    if (work.type === 'dial') this.#finishDial();
    if (work.type === 'hangUp') this.#finishHangUp(work);
  }

  /** Ends the sideband. @param isLeft whether the provider closed it */
  lose(isLeft: boolean): void {
    if (!this.hasSideband) return;
    this.hasSideband = false;
    // The provider's event and its close together are believed, so the call must really be over.
    if (isLeft && this.isSaidOver) this.isLive = false;
    const isHangUpUnderWay = this.works.some(({ type }) => type === 'hangUp');
    this.send({ type: 'SIDEBAND_LOST', at: this.at, isLeft, isHangUpUnderWay, jitter: 0.5 });
  }

  dropLease(): void {
    this.mayHear = false;
    this.send({ type: 'LEASE_LOST', at: this.at, jitter: 0.5 });
  }

  /** The provider says that the call is over, which may not be true. */
  sayOver(reason: 'remote' | 'lost'): void {
    if (!this.hasSideband) return;
    this.isSaidOver = true;
    this.send({ type: 'OVER', at: this.at, reason });
  }

  /** The provider itself ends the call. */
  end(): void {
    this.isLive = false;
    this.lose(true);
  }

  /** Another node takes the call over. */
  take(): void {
    this.record = play(this.record, [{ type: 'TAKEN', at: this.at, node: 'two', unheardSinceMs: this.at }]).record;
    this.send({ type: 'RECORD', at: this.at, record: this.record });
  }

  #do(command: HeldCallCommand): void {
    if (command.type === 'save' || command.type === 'awaitHangUps') this.works.push(command);
    if (command.type === 'dial') this.works.push({ type: 'dial', isFirst: false });
    if (command.type === 'closeSideband') this.hasSideband = false;
    if (command.type === 'saveAlive' && !this.isStoreAway) this.#save({ type: 'HEARD', at: this.at });
    if (command.type === 'hangUp') this.#hangUp({ ...command, isSaved: false, call: this.held.call.record });
  }

  #hangUp(work: Extract<Work, { type: 'hangUp' }>): void {
    if (this.works.some(({ type }) => type === 'hangUp')) return;
    this.hangUps.push(this.at);
    this.works.push(work);
  }

  #attach(): void {
    this.hasSideband = true;
    this.send({ type: 'ATTACHED', at: this.at });
  }

  #finishSave(event: CallEvent): void {
    if (this.isStoreAway) return this.send({ type: 'SAVE_FAILED', at: this.at, isAway: true });
    this.#save(event);
    this.send({ type: 'SAVED', at: this.at, mayHear: this.mayHear });
  }

  #finishWait(work: Work): void {
    if (this.works.some(({ type }) => type === 'hangUp')) this.works.push(work);
    else this.send({ type: 'HANGUPS_SETTLED', at: this.at });
  }

  #finishDial(): void {
    if (this.held.states?.sideband !== 'dialling') return;
    if (!this.isProviderAway && this.isLive) return this.#attach();
    this.send({ type: 'DIAL_FAILED', at: this.at, isOver: !this.isProviderAway, jitter: 0.5 });
  }

  #finishHangUp({ isSaved, askedAtMs, call }: Extract<Work, { type: 'hangUp' }>): void {
    const answer = this.isProviderAway ? 'failed' : this.isLive ? 'asked' : 'already_over';
    if (answer === 'asked') this.end();
    if (!isSaved) return this.send({ type: 'UNSAVED_HANGUP_ANSWERED', at: this.at, askedAtMs, answer });
    if (this.isStoreAway || this.record.fence !== call.fence) return;
    const { isLeft } = this.held.call.sideband;
    // If a hang-up was the first to say that the call is over, dialling is asked as well.
    const isDialledToo = call.hangup !== 'asked' && call.overDoor === 'hangup' && isSecondWordDue(call, this.at);
    const dialled = isDialledToo && answer === 'already_over' ? 'unknown' : undefined;
    const event: CallEvent = { type: 'HANGUP_ANSWERED', at: this.at, answer, isLeft, dialled };
    if (provesOver(call, event)) this.send({ type: 'SETTLE', at: this.at });
    this.#save(event);
  }

  /** Does what src/calls/due-calls.ts does. */
  #runDue(): void {
    if (nextDeadline(this.record) > this.at) return;
    const event: CallEvent = { type: 'CLOCK', at: this.at };
    const isGivenUp = this.record.state === 'closing' && this.at >= (this.record.giveUpAtMs ?? Infinity);
    if (isGivenUp || provesOver(this.record, event)) this.send({ type: 'SETTLE', at: this.at });
    this.#save(event);
    const { state, providerCallId, nextTryAtMs } = this.record;
    if (state !== 'closing' || providerCallId === null || this.at < (nextTryAtMs ?? Infinity)) return;
    if (this.works.some(({ type }) => type === 'hangUp')) return;
    this.send({ type: 'CANCEL_SPEECH', at: this.at });
    this.#hangUp({ type: 'hangUp', askedAtMs: this.at, isSaved: true, call: this.record });
  }

  #save(event: CallEvent): void {
    this.record = play(this.record, [event]).record;
    this.send({ type: 'RECORD', at: this.at, record: this.record });
  }
}
