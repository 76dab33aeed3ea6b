import { atMost } from '../kernel/at-most.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Budgets, MeteredCall, Metering } from '../metering/contract.ts';
import type { Sideband, StartedResponse, UpstreamEvent } from '../upstream/contract.ts';
import { OpenResponses, type Estimate, type OpenResponsesOptions } from './open-responses.ts';
import { Strikes } from './strikes.ts';

/** What is being said has this long to be cut off before its call is hung up; what is not told then may be told after it. */
const CANCEL_MS = 400;
/** As long as that where no hang-up follows. */
const CUT_OFF_MS = 2000;

export interface ResponseGuardDeps {
  readonly metered: MeteredCall;
  readonly metering: Pick<Metering, 'hear' | 'uncounted'>;
  readonly budgets: Pick<Budgets, 'affords' | 'boundOf'>;
  readonly clock: Clock;
  /** Undefined while nobody hears the call. */
  readonly sideband: () => Sideband | undefined;
  /** The page did again and again what it may not. */
  readonly tampered: () => void;
}

type ResponseEvent = Extract<
  UpstreamEvent,
  {
    type:
      | 'responseStarted'
      | 'responseDone'
      | 'responseHeard'
      | 'conversationIdle'
      | 'itemAdded'
      | 'toolCalled'
      | 'configChanged'
      | 'configRestored';
  }
>;

/** Keeps the responses of one call within what its page may have, cuts them off at its end, and charges what nobody told. */
export class ResponseGuard {
  readonly #deps: ResponseGuardDeps;
  readonly #isLocked: boolean;
  readonly #open: OpenResponses;
  readonly #strikes: Strikes;
  /** The call is to be over: whatever begins now is cut off. */
  #isEnding = false;
  /** The page changed its session before there was a sideband to put it back on. */
  #isPutBackDue = false;
  #onQuiet: () => void = () => undefined;

  constructor(options: OpenResponsesOptions, deps: ResponseGuardDeps) {
    this.#deps = deps;
    this.#isLocked = options.isLocked;
    this.#open = new OpenResponses(options);
    this.#strikes = new Strikes(deps.tampered);
  }

  hear(event: ResponseEvent): void {
    const atMs = this.#deps.clock.now();
    switch (event.type) {
      case 'responseStarted':
        return this.#start(event, atMs);
      case 'responseDone':
        return this.#end(event.id, event.isTold, atMs);
      case 'responseHeard':
        return this.#noteHeard(event.id, event.tokens, atMs);
      case 'conversationIdle':
        return this.#open.noneInConversation();
      case 'itemAdded':
        return this.#open.noteItem(event.id, event.tokens);
      case 'toolCalled':
        return this.#strikes.toolCalled();
      case 'configChanged':
        return this.#putBack(event.isAsSdk, atMs);
      case 'configRestored':
        return this.#strikes.restored();
    }
  }

  noteUsage({ key, model, tokens }: Extract<UpstreamEvent, { type: 'usage' }>): void {
    if (model === undefined) this.#open.noteUsage(key, tokens);
  }

  /** The call is heard. What ran when it was lost may have ended unheard: asked to end, it tells. */
  attached(): void {
    this.#open.attached(this.#deps.clock.now());
    for (const id of this.#open.running) this.#cancel(id);
    if (this.#isPutBackDue) this.#deps.sideband()?.restoreConfig();
    this.#isPutBackDue = false;
  }

  /** Nobody hears the call. */
  lost(atMs: number): void {
    this.#open.lost(atMs);
  }

  /** Tokens that a response may have by now; undefined where nothing bounds it. @throws Unavailable */
  async bound(): Promise<number | undefined> {
    const tokens = await this.#deps.budgets.boundOf(this.#deps.metered);
    this.#open.granted(tokens ?? Infinity);
    return tokens;
  }

  /** A response may have so many tokens from now on. */
  limit(tokens: number): void {
    this.#open.granted(tokens);
    this.#deps.sideband()?.limitResponses(tokens);
  }

  /** The call was another node's. */
  taken(sinceMs: number): void {
    this.#open.inherit(sinceMs);
  }

  /** Charges what was asked to end, and is not answered: call it several times a second. */
  tick(): void {
    const atMs = this.#deps.clock.now();
    for (const estimate of this.#open.overdue(atMs)) this.#charge(estimate);
  }

  /** Cuts off all that runs and whatever begins from now on, and waits a moment for what that cost. */
  async cancelSpeech(): Promise<void> {
    this.#isEnding = true;
    await this.#cutOff(CANCEL_MS);
  }

  /** The same for a call that goes on without us: its responses are charged, told or not. */
  async cutOff(): Promise<void> {
    await this.#cutOff(CUT_OFF_MS);
    this.settle();
  }

  /** Nothing more is heard of the call: charges what was not told. @param overAtMs since when the provider says that it is over */
  settle(overAtMs: number | null = null): void {
    const atMs = this.#deps.clock.now();
    for (const estimate of this.#open.settle(Math.min(atMs, overAtMs ?? atMs))) this.#charge(estimate);
  }

  #start(response: StartedResponse, atMs: number): void {
    const { metered, metering, budgets } = this.#deps;
    const kind = this.#open.start(response, atMs);
    if (this.#isEnding) return this.#cancel(response.id);
    const { callId } = metered;
    const isAffordable = kind === 'extra' && budgets.affords(callId, this.#open.worstCases, metering.uncounted(callId));
    const isAdmitted = kind === 'ordinary' || isAffordable;
    if (!isAdmitted) this.#cancel(response.id);
    if (!isAdmitted || this.#strikes.isChanged) this.#strikes.strike();
  }

  /** What began while nobody heard the call was never compared with what the page may have. */
  #noteHeard(id: string, tokens: number, atMs: number): void {
    if (this.#open.heard(id, tokens, atMs)) this.#cancel(id);
  }

  #end(id: string, isTold: boolean, atMs: number): void {
    const estimate = this.#open.done(id, isTold, atMs);
    if (estimate !== undefined) this.#charge(estimate);
    if (this.#open.isEmpty) this.#onQuiet();
  }

  #putBack(isAsSdk: boolean, atMs: number): void {
    if (!this.#isLocked) return;
    const sideband = this.#deps.sideband();
    this.#isPutBackDue = sideband === undefined;
    sideband?.restoreConfig();
    this.#strikes.changed(isAsSdk, atMs);
  }

  async #cutOff(ms: number): Promise<void> {
    const sideband = this.#deps.sideband();
    if (sideband === undefined) return;
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    for (const id of this.#open.names) this.#cancel(id);
    if (this.#open.inherited > 0) sideband.cancelResponse(undefined);
    if (!this.#open.isEmpty) await atMost(ms, Promise.race([quiet, sideband.closed]));
  }

  #cancel(id: string): void {
    const sideband = this.#deps.sideband();
    if (sideband === undefined) return;
    this.#open.cancelled(id, this.#deps.clock.now());
    sideband.cancelResponse(id);
  }

  #charge({ key, tokens }: Estimate): void {
    const { metered, metering, clock } = this.#deps;
    metering.hear(metered, { type: 'usageEstimated', key, tokens }, clock.now());
  }
}
