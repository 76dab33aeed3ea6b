import { wentOnUntilMs } from '../../machines/voice-call/selectors.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { MeteredCall, Metering } from '../metering/contract.ts';
import type { SidebandConnection } from './sideband-connection.ts';

/** A sideband that is dialled again sooner hides no conversation. */
const HIDDEN_MS = 5000;

/** Whether nobody hears a call for so long that none can say it is silent: its session does not go idle for that (docs/contract.md, section 5.3). */
export function mayHaveSpoken(sinceMs: number, atMs: number): boolean {
  return atMs - sinceMs >= HIDDEN_MS;
}

/** Tells the meter of what nobody heard of a call that is metered by its events, also where that was never saved. */
export class GapTracker {
  readonly #call: MeteredCall;
  readonly #metering: Pick<Metering, 'gap'>;
  /** Since when nobody hears a call that is closing, and whose hang-up was not asked yet. */
  #closingSinceMs: number | undefined;
  /** When the sideband went during a try to hang up: with the call, unless that try failed. */
  #wentAtMs: number | undefined;
  /** The last gap that was told began here. */
  #toldSinceMs = -Infinity;

  constructor(call: MeteredCall, metering: Pick<Metering, 'gap'>) {
    this.#call = call;
    this.#metering = metering;
  }

  /** Since when nobody hears a closing call whose record does not say so yet. */
  unsavedSinceMs({ state, unheardSinceMs }: CallRecord): number | undefined {
    return state === 'closing' && unheardSinceMs === null ? this.#closingSinceMs : undefined;
  }

  /** The sideband was lost. @param mayBeOver a try to hang up is under way, and may have ended it */
  lost({ state, hangup }: CallRecord, atMs: number | undefined, mayBeOver: boolean): void {
    if (state !== 'closing' || hangup !== 'none') return;
    if (mayBeOver) this.#wentAtMs ??= atMs;
    else this.#closingSinceMs ??= atMs;
  }

  /** The call was taken over from a node that counted all until `sinceMs`; of one that is open that is told when it is heard again. */
  taken(call: CallRecord, sinceMs: number, atMs: number): void {
    const { state, openedAtMs, unheardSinceMs, hangup } = call;
    if (state !== 'closing' || openedAtMs === null) return;
    if (hangup === 'none') {
      this.#closingSinceMs = unheardSinceMs ?? sinceMs;
      return;
    }
    // Apart from what follows, because its owner may have told it.
    if (unheardSinceMs !== null) this.#tell(unheardSinceMs, sinceMs);
    this.#tell(sinceMs, wentOnUntilMs(call, atMs));
  }

  /** The call is over or heard again, and its record is about to say so: what was not told until now never is. */
  over(call: CallRecord, connection: SidebandConnection, atMs: number): void {
    this.#tell(call.state === 'closing' ? this.#closingSinceMs : this.#sinceMs(call, connection), atMs);
    this.#closingSinceMs = undefined;
  }

  /** The record moved: what was unheard is told once it is heard again, or its hang-up was asked. */
  moved(before: CallRecord, after: CallRecord, connection: SidebandConnection, atMs: number): void {
    if (before.state === 'open') {
      const sinceMs = this.#sinceMs(before, connection);
      // In one with what follows: until it is told, whoever takes the call over tells it.
      if (after.state === 'closing' && connection.sideband === undefined)
        this.#closingSinceMs = sinceMs ?? connection.lostAtMs;
      else if (after.state === 'closing' || after.unheardSinceMs === null) this.#tell(sinceMs, atMs);
    }
    if (after.hangup === 'none' && after.state !== 'closed') {
      if (after.hangupTries > before.hangupTries) this.#closingSinceMs ??= this.#wentAtMs;
      return;
    }
    this.#tell(this.#closingSinceMs, atMs);
    this.#closingSinceMs = undefined;
  }

  /** Since when an open call is unheard and that was not told: since it was lost again, where the record could not say that it was heard. */
  #sinceMs({ unheardSinceMs }: CallRecord, { lostAtMs }: SidebandConnection): number | undefined {
    if (unheardSinceMs === null) return undefined;
    return unheardSinceMs > this.#toldSinceMs ? unheardSinceMs : lostAtMs;
  }

  #tell(sinceMs: number | undefined, untilMs: number): void {
    if (sinceMs === undefined || sinceMs <= this.#toldSinceMs || untilMs <= sinceMs) return;
    this.#toldSinceMs = sinceMs;
    this.#metering.gap(this.#call, sinceMs, untilMs);
  }
}
