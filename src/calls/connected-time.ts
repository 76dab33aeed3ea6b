import { wentOnUntilMs } from '../../machines/voice-call/selectors.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { MeteredCall, Metering } from '../metering/contract.ts';

/** How often it is told of a call that goes on. */
const TELL_MS = 5000;

/** Tells the meter how long a call has been connected, where the provider tells nothing of its cost and bills time. */
export class ConnectedTime {
  readonly #call: MeteredCall;
  readonly #deps: { readonly metering: Pick<Metering, 'hear'>; readonly clock: Clock };
  #toldAtMs = -Infinity;

  constructor(call: MeteredCall, deps: { readonly metering: Pick<Metering, 'hear'>; readonly clock: Clock }) {
    this.#call = call;
    this.#deps = deps;
  }

  /** @param openedAtMs null for a call that has never been open */
  tell(openedAtMs: number | null, untilMs = this.#deps.clock.now()): void {
    const { metering, clock } = this.#deps;
    if (openedAtMs === null) return;
    this.#toldAtMs = clock.now();
    metering.hear(this.#call, { type: 'usageTotal', ms: untilMs - openedAtMs }, this.#toldAtMs);
  }

  /** The call was taken over: of one that is closing nobody tells it later. */
  taken(call: CallRecord): void {
    if (call.state === 'closing') this.tell(call.openedAtMs, wentOnUntilMs(call, this.#deps.clock.now()));
  }

  tellNowAndThen(openedAtMs: number | null): void {
    if (this.#deps.clock.now() - this.#toldAtMs >= TELL_MS) this.tell(openedAtMs);
  }
}
