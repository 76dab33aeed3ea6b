import { setTimeout as delay } from 'node:timers/promises';
import type { HeldCallEvent } from '../../machines/held-call/types.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import { CallOver, isBrokered, UpstreamFault, type Sideband, type UpstreamEvent } from '../upstream/contract.ts';
import type { HeldCallDeps } from './deps.ts';

interface SidebandConnectionDeps extends Pick<
  HeldCallDeps,
  'provider' | 'hangUps' | 'events' | 'clock' | 'random' | 'readyMs' | 'pause'
> {
  readonly call: { readonly record: CallRecord };
  /** Undefined where it is no longer kept: then the call is not dialled. */
  readonly setup: SessionSetup | undefined;
  /** Tokens that a response may have now. @throws Unavailable */
  readonly boundOnResponses: () => Promise<number | undefined>;
  readonly hear: (event: UpstreamEvent) => void;
  /** Whether the call still waits for the sideband that is being dialled. */
  readonly isAwaited: () => boolean;
  /** Called with a new sideband in place, just before the call's machine is told of it. */
  readonly attached: () => void;
  /** Sends to the call's machine. */
  readonly send: (event: HeldCallEvent) => void;
}

/**
 * The connection on which one call is heard, at most one at a time: dialled when the call's machine says so, which is told about everything that
 * happens to it.
 */
export class SidebandConnection {
  readonly #deps: SidebandConnectionDeps;
  #sideband: Sideband | undefined;

  constructor(deps: SidebandConnectionDeps) {
    this.#deps = deps;
  }

  /** Undefined while nobody hears the call. */
  get sideband(): Sideband | undefined {
    return this.#sideband;
  }

  /**
   * Attaches to a call before it is open, and tries again while the provider asks to wait and there is time for it.
   * @throws CallOver, UpstreamFault or Unavailable
   */
  async open(signal: AbortSignal): Promise<void> {
    const { readyMs, pause = wait } = this.#deps;
    let waitedMs = 0;
    for (;;) {
      try {
        return await this.#dial(signal, true);
      } catch (fault) {
        const waitMs = fault instanceof UpstreamFault ? (fault.retryAfterSec ?? Infinity) * 1000 : Infinity;
        waitedMs += waitMs;
        if (waitedMs >= readyMs || signal.aborted) throw fault;
        await pause(waitMs, signal);
        if (signal.aborted) throw fault;
      }
    }
  }

  /** Attaches to the call again. A provider that does not answer, or refuses, is logged. @throws Unavailable */
  async redial(): Promise<void> {
    const { events, readyMs } = this.#deps;
    try {
      await this.#dial(AbortSignal.timeout(readyMs), false);
    } catch (fault) {
      if (fault instanceof UpstreamFault) events.dependencyAway('provider', fault, undefined, 'sideband');
      else if (!(fault instanceof CallOver)) throw fault;
    }
  }

  close(): void {
    this.#sideband?.close();
    this.#sideband = undefined;
  }

  /** @param isFirst true before the call is open */
  async #dial(signal: AbortSignal, isFirst: boolean): Promise<void> {
    const { attached, isAwaited, send, clock, random } = this.#deps;
    if (isFirst) send({ type: 'DIAL', at: clock.now() });
    try {
      const sideband = await this.#attach(signal);
      if (!isAwaited()) return sideband.close();
      this.#sideband = sideband;
      attached();
      send({ type: 'ATTACHED', at: clock.now() });
      void sideband.closed.then((end) => this.#lost(sideband, end === 'left'));
    } catch (fault) {
      const isOver = !isFirst && fault instanceof CallOver;
      send({ type: 'DIAL_FAILED', at: clock.now(), isOver, jitter: random() });
      throw fault;
    }
  }

  /**
   * Attaches with the full setup that the call was created with. A call that was open before is restored to that setup where its page may change
   * nothing: nobody has seen what the page did meanwhile.
   */
  async #attach(signal: AbortSignal): Promise<Sideband> {
    const { provider, call, setup, hear, boundOnResponses } = this.#deps;
    const { providerCallId, state } = call.record;
    const maxOutputTokens = await boundOnResponses();
    if (provider === undefined || !isBrokered(provider) || setup === undefined || providerCallId === null)
      throw new Error('nothing is known of the call to attach to');
    const { model, voice, tools, behaviour } = setup;
    const instructions = setup.instructions ?? undefined;
    const wasOpen = state === 'open';
    const again = { isPutBack: wasOpen && setup.forbidsOverrides, mayBeSpeaking: wasOpen };
    return provider.attach(
      providerCallId,
      { model, voice, instructions, tools, behaviour, maxOutputTokens, ...again },
      hear,
      signal,
    );
  }

  #lost(sideband: Sideband, isLeft: boolean): void {
    if (this.#sideband !== sideband) return;
    this.#sideband = undefined;
    const { call, hangUps, send, clock, random } = this.#deps;
    const isHangUpUnderWay = hangUps.isUnderWay(call.record.id);
    send({ type: 'SIDEBAND_LOST', at: clock.now(), isLeft, isHangUpUnderWay, jitter: random() });
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
