import { isAwaited } from '../../machines/held-call/conversation.ts';
import { isQuiet } from '../../machines/held-call/responses.ts';
import { fastPath, heldStates, type HeldStates } from '../../machines/held-call/selectors.ts';
import type {
  HeldCallCommand,
  HeldCallContext,
  HeldCallEvent,
  HeldCallInput,
  Responses,
} from '../../machines/held-call/types.ts';
import type { CallEvent, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import type { Snapshot } from '../actors/steps.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { Sideband } from '../upstream/contract.ts';
import type { CallDeps, HeldCallDeps } from './deps.ts';

const NOTHING: readonly HeldCallCommand[] = [];

/** The state of one held call: the machine's, or the fast path's where an event moves no state. */
export class HeldCallState {
  readonly #steps: CallDeps['steps'];
  #snapshot: Snapshot<HeldCallContext>;
  /** Newer than the snapshot's context after a fast path. */
  #call: HeldCallContext;

  constructor(steps: CallDeps['steps'], input: HeldCallInput) {
    this.#steps = steps;
    this.#snapshot = steps.begin(input);
    this.#call = this.#snapshot.context;
  }

  get call(): HeldCallContext {
    return this.#call;
  }

  /** Undefined once the call is over, or belongs to another node. */
  get states(): HeldStates | undefined {
    return heldStates(this.#snapshot.value);
  }

  /** @returns the commands to carry out, in order */
  send(event: HeldCallEvent): readonly HeldCallCommand[] {
    const { states } = this;
    if (states === undefined) return NOTHING;
    const touched = fastPath(states, this.#call, event);
    if (touched !== undefined) {
      this.#call = touched;
      return NOTHING;
    }
    const before = this.#snapshot;
    const snapshot = this.#call === before.context ? before : { ...before, context: this.#call };
    const [next, commands] = this.#steps.send(snapshot, event);
    this.#snapshot = next;
    this.#call = next.context;
    return commands;
  }
}

interface CallSaverDeps extends Pick<
  HeldCallDeps,
  'host' | 'hangUps' | 'metering' | 'running' | 'events' | 'clock' | 'lease'
> {
  readonly state: HeldCallState;
  /** Id of the request that opens the call, while that is under way. */
  readonly requestId: () => string | undefined;
  readonly send: (event: HeldCallEvent) => void;
  /** Called with the record as it was saved. */
  readonly saved: (event: CallEvent, record: CallRecord) => void;
}

/** Saves the events that a held call's machine wants saved, and reports the outcome to the machine. */
export class CallSaver {
  readonly #deps: CallSaverDeps;
  /** The last piece of work that the machine waits for. */
  #work: Promise<void> = Promise.resolve();

  constructor(deps: CallSaverDeps) {
    this.#deps = deps;
  }

  /** Saves an event; events that only the owner may send are dropped where another node owns the call. @throws Unavailable */
  async save(event: CallEvent): Promise<void> {
    const { host, state, requestId, send, saved, clock } = this.#deps;
    const mayTell = ({ fence }: CallRecord): boolean => fence === state.call.fence || !isOwnerOnly(event);
    const outcome = await host.send(state.call.record.id, { ...event, requestId: requestId() }, mayTell);
    if (outcome === undefined) send({ type: 'RELEASE', at: clock.now() });
    else saved(event, outcome.record);
  }

  /** Starts work that the machine then waits for. */
  begin(command: Extract<HeldCallCommand, { type: 'save' | 'awaitHangUps' }>): void {
    this.#work = command.type === 'save' ? this.#saveStep(command) : this.#hangUpsSettled();
    this.#deps.running.start(this.#work);
  }

  /** Resolves when the machine waits for nothing any more. */
  async settled(): Promise<void> {
    for (let work: Promise<void> | undefined; work !== this.#work;) {
      work = this.#work;
      await work;
    }
  }

  async #saveStep({ event, isCountedFirst }: Extract<HeldCallCommand, { type: 'save' }>): Promise<void> {
    const { metering, state, send, events, clock, lease } = this.#deps;
    try {
      if (isCountedFirst) await metering.flushCall(state.call.record.id);
      await this.save(event);
      send({ type: 'SAVED', at: clock.now(), mayHear: lease.mayHoldCalls });
    } catch (fault) {
      send({ type: 'SAVE_FAILED', at: clock.now(), isAway: fault instanceof Unavailable });
      events.faulted(fault, undefined, 'calls');
    }
  }

  async #hangUpsSettled(): Promise<void> {
    const { hangUps, state, send, clock } = this.#deps;
    await hangUps.settled(state.call.record.id);
    send({ type: 'HANGUPS_SETTLED', at: clock.now() });
  }
}

const HEARD: ReadonlySet<CallEvent['type']> = new Set(['READY', 'SIDEBAND_LOST', 'OVER', 'HEARD', 'WRAPPED_UP']);

const OWNERS_REASONS: ReadonlySet<CloseRequest> = new Set(['unheard', 'tampered', 'tool_forged', 'tool_ended']);

/**
 * Whether only the node that holds a call may send this event: what it hears on the sideband, and what it concludes from hearing nothing. A node that
 * was suspended knows neither about a call that another node has taken meanwhile. Any node may say that the session ended.
 */
function isOwnerOnly(event: CallEvent): boolean {
  if (event.type === 'CLOSE') return OWNERS_REASONS.has(event.reason);
  return HEARD.has(event.type);
}

/** What is known of the responses, and the sideband; undefined while nobody hears the call. */
type Present = readonly [responses: Responses, sideband: Sideband | undefined];

/** Waits for the responses of one held call. Each wait ends when nobody hears the call, and only the last one is told of more than that. */
export class ResponseWaits {
  readonly #present: () => Present;
  #noted: () => void = () => undefined;

  constructor(present: () => Present) {
    this.#present = present;
  }

  /** No response runs any more; call it each time. */
  note(): void {
    this.#noted();
  }

  /** Resolves once no response runs. */
  ended(): Promise<void> {
    return this.#until(isQuiet);
  }

  /** Resolves once no response runs and none is still to begin. */
  saidAll(): Promise<void> {
    return this.#until((responses) => isQuiet(responses) && !isAwaited(responses));
  }

  async #until(isSo: (responses: Responses) => boolean): Promise<void> {
    const isNow = (): boolean => isSo(this.#present()[0]);
    const [, sideband] = this.#present();
    if (sideband === undefined || isNow()) return;
    const quiet = new Promise<void>((resolve) => {
      this.#noted = () => isNow() && resolve();
    });
    await Promise.race([quiet, sideband.closed]);
  }
}
