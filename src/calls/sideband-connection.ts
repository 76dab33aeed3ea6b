import { setTimeout as delay } from 'node:timers/promises';
import type { HeldCallEvent } from '../../machines/held-call/types.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { Clock } from '../kernel/time.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import {
  CallOver,
  isBrokered,
  UpstreamFault,
  type BrokeredProvider,
  type EndingProvider,
  type Sideband,
} from '../upstream/contract.ts';

interface SidebandConnectionDeps {
  readonly attach: (signal: AbortSignal) => Promise<Sideband>;
  /** Whether the call still waits for the sideband that is being dialled. */
  readonly isAwaited: () => boolean;
  /** Whether the provider is being asked to end the call. */
  readonly isHangUpUnderWay: () => boolean;
  /** Called with a new sideband in place, just before the call's machine is told of it. */
  readonly attached: () => void;
  readonly send: (event: HeldCallEvent) => void;
  readonly clock: Clock;
  readonly random: () => number;
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

  /** Attaches to the call. @param isFirst true before the call is open @throws what the provider's `attach` throws */
  async dial(signal: AbortSignal, isFirst: boolean): Promise<void> {
    const { attach, attached, isAwaited, send, clock, random } = this.#deps;
    if (isFirst) send({ type: 'DIAL', at: clock.now() });
    try {
      const sideband = await attach(signal);
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

  /** Attaches to the call again. @param tell hears of a provider that does not answer, or refuses @throws other faults */
  async redial(ms: number, tell: (fault: UpstreamFault) => void): Promise<void> {
    try {
      await this.dial(AbortSignal.timeout(ms), false);
    } catch (fault) {
      if (fault instanceof UpstreamFault) tell(fault);
      else if (!(fault instanceof CallOver)) throw fault;
    }
  }

  close(): void {
    this.#sideband?.close();
    this.#sideband = undefined;
  }

  #lost(sideband: Sideband, isLeft: boolean): void {
    if (this.#sideband !== sideband) return;
    this.#sideband = undefined;
    const { isHangUpUnderWay, send, clock, random } = this.#deps;
    const at = clock.now();
    send({ type: 'SIDEBAND_LOST', at, isLeft, isHangUpUnderWay: isHangUpUnderWay(), jitter: random() });
  }
}

export interface RetryOptions {
  /** Milliseconds for all tries and the pauses between them. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
  /** Waits, but no longer than until the signal aborts. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** Dials a call, and dials again while the provider asks to wait and there is time for it. @throws what `dial` throws */
export async function dialWithRetries(dial: () => Promise<void>, options: RetryOptions): Promise<void> {
  const { budgetMs, signal, pause = wait } = options;
  let waitedMs = 0;
  for (;;) {
    try {
      return await dial();
    } catch (fault) {
      const waitMs = fault instanceof UpstreamFault ? (fault.retryAfterSec ?? Infinity) * 1000 : Infinity;
      waitedMs += waitMs;
      if (waitedMs >= budgetMs || signal.aborted) throw fault;
      await pause(waitMs, signal);
      if (signal.aborted) throw fault;
    }
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Attaches to a call with the full setup that it was created with. A call that was open before is restored to that setup where its page may change
 * nothing: nobody has seen what the page did meanwhile.
 * @throws what the provider's `attach` throws
 */
export async function attach(
  provider: EndingProvider | undefined,
  { providerCallId, state }: Pick<CallRecord, 'providerCallId' | 'state'>,
  setup: SessionSetup | undefined,
  maxOutputTokens: number | undefined,
  hear: Parameters<BrokeredProvider['attach']>[2],
  signal: AbortSignal,
): ReturnType<BrokeredProvider['attach']> {
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
