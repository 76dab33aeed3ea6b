import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { MeteredCall, Metering } from '../metering/contract.ts';
import type { Line } from './line.ts';

/** A sideband that is dialled again sooner hides no conversation. */
const HIDDEN_MS = 5000;

/** Whether nobody hears a call for so long that none can say it is silent: its session does not go idle for that (docs/contract.md, section 5.3). */
export function mayBeLoud(sinceMs: number, atMs: number): boolean {
  return atMs - sinceMs >= HIDDEN_MS;
}

/** Tells the meter of what nobody heard of a call that is metered by its events, also where that was never saved. */
export class Unheard {
  readonly #call: MeteredCall;
  readonly #metering: Pick<Metering, 'gap' | 'hear'>;
  /** Since when nobody hears a call that is closing, and whose hang-up was not asked yet. */
  #closingSinceMs: number | undefined;
  /** What was being said was cut off, and its usage was not told yet. */
  #isCutOff = false;

  constructor(call: MeteredCall, metering: Pick<Metering, 'gap' | 'hear'>) {
    this.#call = call;
    this.#metering = metering;
  }

  /** The sideband was lost. @param isHangingUp then it went with the call, and is no loss */
  lost({ state, hangup }: CallRecord, atMs: number | undefined, isHangingUp: boolean): void {
    if (state === 'closing' && hangup === 'none' && !isHangingUp) this.#closingSinceMs ??= atMs;
  }

  /** The call was taken over from a node that counted all until `sinceMs`; of one that is open that is told when it is heard again. */
  taken({ state, openedAtMs, hangup, nextTryAtMs }: CallRecord, sinceMs: number, atMs: number): void {
    if (state !== 'closing' || openedAtMs === null) return;
    // When it is next asked whether a hang-up is done, it is.
    this.#metering.gap(this.#call, sinceMs, hangup === 'asked' ? Math.min(atMs, nextTryAtMs ?? atMs) : atMs);
  }

  cutOff(): void {
    this.#isCutOff = true;
  }

  /** Usage was heard: it may come late. */
  told(): void {
    this.#isCutOff = false;
  }

  /** The call is over: what was cut off and not told until now never is. */
  over(atMs: number): void {
    if (this.#isCutOff) this.#metering.hear(this.#call, { type: 'usageUnreadable', key: undefined }, atMs);
    this.#isCutOff = false;
  }

  /** The record moved: what was unheard until it was heard again or began to close is told, and then until its hang-up is asked. */
  moved(before: CallRecord, after: CallRecord, { sideband, lostAtMs }: Line, atMs: number): void {
    const isUnheardClosing = before.state === 'open' && after.state === 'closing' && sideband === undefined;
    const sinceMs = before.unheardSinceMs ?? (isUnheardClosing ? lostAtMs : undefined);
    if (sinceMs !== undefined && after.unheardSinceMs === null) this.#metering.gap(this.#call, sinceMs, atMs);
    if (isUnheardClosing) this.#closingSinceMs = atMs;
    if (this.#closingSinceMs === undefined || (after.hangup === 'none' && after.state !== 'closed')) return;
    this.#metering.gap(this.#call, this.#closingSinceMs, atMs);
    this.#closingSinceMs = undefined;
  }
}
