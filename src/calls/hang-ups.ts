import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
import type { BackgroundTasks } from '../kernel/async.ts';
import type { Events } from '../telemetry/events.ts';
import { UpstreamFault, type UpstreamEvent, type EndingProvider } from '../upstream/contract.ts';

/**
 * The provider accounts that this service has credentials for, by fingerprint: one opens calls, and each hears and ends the calls that were opened
 * with it. Asked with another account's credential, the provider would answer that the call is over.
 */
export class ProviderAccounts {
  /** Fingerprint of the account that opens calls. */
  readonly fingerprint: string;
  readonly #opens: EndingProvider;
  readonly #byFingerprint: ReadonlyMap<string, EndingProvider>;

  constructor(opens: EndingProvider, others: readonly EndingProvider[], installationKey: Buffer) {
    this.#opens = opens;
    this.fingerprint = opens.fingerprint(installationKey);
    this.#byFingerprint = new Map(
      [...others, opens].map((provider) => [provider.fingerprint(installationKey), provider]),
    );
  }

  get fingerprints(): readonly string[] {
    return [...this.#byFingerprint.keys()];
  }

  /** The provider to ask about a call; undefined where this service has no credential for it. Old calls have no fingerprint, only a provider. */
  of({ provider, fingerprint }: Pick<CallRecord, 'provider' | 'fingerprint'>): EndingProvider | undefined {
    if (fingerprint === null) return provider === this.#opens.name ? this.#opens : undefined;
    return this.#byFingerprint.get(fingerprint);
  }
}

/** Where a provider's longest call is not known, its calls count as over after a day. */
const UNKNOWN_SEC = 86_400;

/** Milliseconds after which the provider itself has ended a call. */
export function maxCallMs(provider: Pick<EndingProvider, 'capabilities'> | undefined): number {
  return (provider?.capabilities.providerMaxSec ?? UNKNOWN_SEC) * 1000;
}

type HangupAnswer = Pick<Extract<CallEvent, { type: 'HANGUP_ANSWERED' }>, 'answer' | 'dialled'>;

/** How long the provider may take for one try. */
const TRY_MS = 2000;
/** Hang-ups that run at once; the others wait for the next look at what is due. */
const MAX_CONCURRENT = 256;

/** A call to hang up: one that the provider has created. */
type HangUpTarget = Pick<CallRecord, 'id' | 'provider' | 'fingerprint'> & {
  readonly providerCallId: string;
  /** If the provider says that it does not know the call, its other endpoint is asked as well. */
  readonly isDialledToo?: boolean;
};

/** What is done with a call while it is hung up. */
export interface HangUpListener {
  /** Cuts off what the call is saying; resolves soon. */
  cancelSpeech(): Promise<unknown>;
  /** Receives what the provider reports about the call's cost as it ends. */
  hear(event: UpstreamEvent): void;
}

interface HangUpDeps {
  readonly accounts: ProviderAccounts;
  readonly running: BackgroundTasks;
  /** Hears of faults that are not the provider's. */
  readonly onError: (error: unknown) => void;
  readonly events: Pick<Events, 'dependencyAway'>;
}

/**
 * Asks providers to end calls, with one try at a time for each call; nobody waits for the outcome. When a try follows another, and for how long:
 * machines/voice-call/hang-up-tries.ts.
 */
export class HangUps {
  readonly #deps: HangUpDeps;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(deps: HangUpDeps) {
    this.#deps = deps;
  }

  /**
   * Starts a try, unless one of the same call is under way.
   * @param answered is called with the outcome
   */
  start(call: HangUpTarget, listener: HangUpListener, answered: (answer: HangupAnswer) => unknown): void {
    if (this.#underWay.has(call.id) || this.#underWay.size >= MAX_CONCURRENT) return;
    const work = this.#ask(call, listener)
      .then(answered)
      .finally(() => this.#underWay.delete(call.id));
    this.#underWay.set(call.id, work);
    this.#deps.running.start(work);
  }

  isUnderWay(callId: string): boolean {
    return this.#underWay.has(callId);
  }

  /** Resolves when no try of the call is under way, whatever its outcome. */
  async settled(callId: string): Promise<void> {
    await Promise.allSettled([this.#underWay.get(callId)]);
  }

  async #ask(call: HangUpTarget, listener: HangUpListener): Promise<HangupAnswer> {
    const { providerCallId, isDialledToo = false } = call;
    const provider = this.#deps.accounts.of(call);
    if (provider === undefined) return { answer: 'failed' };
    try {
      await listener.cancelSpeech();
      const hear = (event: UpstreamEvent): void => listener.hear(event);
      const answer = await provider.hangUp(providerCallId, AbortSignal.timeout(TRY_MS), hear);
      if (answer !== 'already_over' || !isDialledToo) return { answer };
      const isKnown = await provider.isKnown(providerCallId, AbortSignal.timeout(TRY_MS));
      return { answer, dialled: isKnown ? 'known' : 'unknown' };
    } catch (fault) {
      const { events, onError } = this.#deps;
      if (fault instanceof UpstreamFault) events.dependencyAway('provider', fault, undefined, 'hang-up');
      else onError(fault);
      return { answer: 'failed' };
    }
  }
}
