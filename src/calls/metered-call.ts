import type { HeldCallInput } from '../../machines/held-call/types.ts';
import { wentOnUntilMs } from '../../machines/voice-call/selectors.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { MeteredCall } from '../metering/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import { MAX_CONTEXT_TOKENS, MAX_RESPONSE_TOKENS } from '../upstream/contract.ts';
import type { HeldCallDeps } from './deps.ts';

/** The call as the meter sees it. @param setup of its session, where it is still kept */
export function meteredCall(record: CallRecord, setup: SessionSetup | undefined): MeteredCall {
  const { id: callId, sessionId, subject, tenantId, keyId, model } = record;
  const caller = keyId === null ? 'console' : 'widget';
  return { callId, sessionId, subject, tenantId, keyId, model, caller, price: setup?.price ?? null };
}

const BYTES_A_TOKEN = 4;
/** No model reads more of a conversation than this. It applies where the page may change the session's own limit. */
const MAX_UNBOUND_CONTEXT_TOKENS = 128_000;

/** What limits the responses of a call, and after how much silence the agent asks. @param setup of its session, where it is still kept */
export function responseTermsOf(
  setup: SessionSetup | undefined,
  max: number,
): Pick<HeldCallInput, 'terms' | 'askAfterMs'> {
  const { instructions = null, tools = [], forbidsOverrides = false } = setup ?? {};
  const setupTokens = Math.ceil(Buffer.byteLength((instructions ?? '') + JSON.stringify(tools)) / BYTES_A_TOKEN);
  const maxItemTokens = forbidsOverrides ? MAX_CONTEXT_TOKENS : MAX_UNBOUND_CONTEXT_TOKENS;
  const { askAfterSec } = setup?.behaviour?.silence ?? {};
  return {
    terms: { max, forbidsOverrides, setupTokens, maxItemTokens, maxResponseTokens: MAX_RESPONSE_TOKENS },
    askAfterMs: askAfterSec === undefined ? null : askAfterSec * 1000,
  };
}

/** How often the meter is told about a call that goes on. */
const TELL_MS = 5000;

/** Tells the meter how long a call has been connected, for providers that report no cost and bill by time. */
export class ConnectedTime {
  readonly #call: MeteredCall;
  readonly #deps: Pick<HeldCallDeps, 'metering' | 'clock'>;
  #toldAtMs = -Infinity;

  constructor(call: MeteredCall, deps: Pick<HeldCallDeps, 'metering' | 'clock'>) {
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

  /** The call was taken over. One that is already closing is reported now: nobody does so later. */
  takenOver(call: CallRecord): void {
    if (call.state === 'closing') this.tell(call.openedAtMs, wentOnUntilMs(call, this.#deps.clock.now()));
  }

  tellNowAndThen(openedAtMs: number | null): void {
    if (this.#deps.clock.now() - this.#toldAtMs >= TELL_MS) this.tell(openedAtMs);
  }
}
