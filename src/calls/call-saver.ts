import type { HeldCallCommand, HeldCallContext, HeldCallEvent } from '../../machines/held-call/types.ts';
import type { CallEvent, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { HeldCallDeps } from './deps.ts';

interface CallSaverDeps extends Pick<
  HeldCallDeps,
  'host' | 'hangUps' | 'metering' | 'running' | 'events' | 'clock' | 'lease'
> {
  readonly call: () => Pick<HeldCallContext, 'record' | 'fence'>;
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
    const { host, call, requestId, send, saved, clock } = this.#deps;
    const mayTell = ({ fence }: CallRecord): boolean => fence === call().fence || !isOwnerOnly(event);
    const outcome = await host.send(call().record.id, { ...event, requestId: requestId() }, mayTell);
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
    const { metering, call, send, events, clock, lease } = this.#deps;
    try {
      if (isCountedFirst) await metering.flushCall(call().record.id);
      await this.save(event);
      send({ type: 'SAVED', at: clock.now(), mayHear: lease.mayHoldCalls });
    } catch (fault) {
      send({ type: 'SAVE_FAILED', at: clock.now(), isAway: fault instanceof Unavailable });
      events.faulted(fault, undefined, 'calls');
    }
  }

  async #hangUpsSettled(): Promise<void> {
    const { hangUps, call, send, clock } = this.#deps;
    await hangUps.settled(call().record.id);
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
