import { mayHaveSpoken, runningResponses, worstCasesWith } from '../../machines/held-call/selectors.ts';
import type { HeldCallCommand, HeldCallEvent } from '../../machines/held-call/types.ts';
import type { CallEvent, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import { withTimeout } from '../kernel/async.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { MeteredCall } from '../metering/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { CreatedCall, UpstreamEvent } from '../upstream/contract.ts';
import { SidebandConnection } from './sideband-connection.ts';
import type { CallDeps, HeldCallDeps } from './deps.ts';
import { CallSaver, HeldCallState, ResponseWaits } from './held-call-state.ts';
import { Conversation } from './conversation.ts';
import { ConnectedTime, meteredCall, responseTermsOf } from './metered-call.ts';
import { maxCallMs, type HangUpListener } from './hang-ups.ts';
import { createEventHandler, FirstWords } from './provider-events.ts';
import { CallPages } from './pages/call-pages.ts';

/** Before a call is hung up, cutting off what it says may take this long; usage that is not reported by then may still be reported afterwards. */
const CANCEL_MS = 400;
/** The same limit where no hang-up follows. */
const CUT_OFF_MS = 2000;

/** One call that this node owns, driven by machines/held-call: its sideband, its record, what its provider is asked and what the meter is told. */
export class HeldCall implements HangUpListener {
  readonly hear: (event: UpstreamEvent) => void;
  readonly conversation: Conversation;
  readonly pages: CallPages;
  readonly firstWords: FirstWords;
  readonly #deps: HeldCallDeps;
  readonly #metered: MeteredCall;
  readonly #connection: SidebandConnection;
  readonly #saver: CallSaver;
  /** Only for a call that is metered by the clock. */
  readonly #time: ConnectedTime | undefined;
  readonly #state: HeldCallState;
  readonly runningResponses = (): number | undefined => runningResponses(this.#state.call);
  readonly #quiet = new ResponseWaits(() => [this.#state.call.responses, this.#connection.sideband]);
  /** Id of the request that opens the call, while that is under way: what is done meanwhile is attributed to it. */
  requestId: string | undefined;

  /** @param setup undefined where it is no longer kept: then the call is not heard */
  constructor(record: CallRecord, setup: SessionSetup | undefined, deps: HeldCallDeps) {
    this.#deps = deps;
    this.#metered = meteredCall(record, setup);
    // Without a provider to hear it, the call counts as metered by events: what nobody hears is a gap.
    const meter = deps.provider?.capabilities.meter ?? 'events';
    if (meter === 'clock') this.#time = new ConnectedTime(this.#metered, deps);
    this.#state = new HeldCallState(deps.steps, {
      record,
      needsSideband: meter === 'events',
      isDiallable: setup !== undefined && deps.provider !== undefined,
      ...responseTermsOf(setup, deps.maxOpenResponses),
    });
    const send = (event: HeldCallEvent): void => this.#send(event);
    this.#saver = new CallSaver({
      ...deps,
      state: this.#state,
      requestId: () => this.requestId,
      send,
      saved: (event, saved) => {
        if (event.type === 'CREATED') deps.metering.begin(this.#metered, event.at);
        this.applyRecord(saved);
      },
    });
    this.#connection = new SidebandConnection({
      ...deps,
      call: this,
      setup,
      boundOnResponses: () => this.boundOnResponses(),
      hear: (event) => this.hear(event),
      attached: () => this.pages.attached(),
      isAwaited: () => this.#state.states?.sideband === 'dialling',
      send,
    });
    const sideband = () => (this.record.state === 'open' ? this.#connection.sideband : undefined);
    const save = (event: CallEvent): void => deps.running.start(this.#saver.save(event));
    this.conversation = new Conversation(this, { ...deps, send, save, sideband, behaviour: setup?.behaviour ?? null });
    this.pages = new CallPages(this, setup, deps);
    this.firstWords = new FirstWords(record.sessionId, deps);
    this.hear = createEventHandler(
      {
        call: record,
        metered: this.#metered,
        firstWords: this.firstWords,
        send,
        affords: (started) => this.#affords(started),
        tellPages: (event) => this.pages.hear(event),
      },
      deps,
    );
    if (record.providerCallId !== null) deps.metering.begin(this.#metered, this.#now);
    deps.budgets.watch(this.#metered, (tokens) => {
      send({ type: 'GRANTED', at: this.#now, tokens });
      this.#connection.sideband?.limitResponses(tokens);
    });
  }

  get record(): CallRecord {
    return this.#state.call.record;
  }

  /** True once the call is over, or belongs to another node. */
  get isReleased(): boolean {
    return this.#state.states === undefined;
  }

  /** This service has no credential to ask for the call. */
  get isForeign(): boolean {
    return this.record.hangup === 'unconfirmed';
  }

  get hasSideband(): boolean {
    return this.#connection.sideband !== undefined;
  }

  /** Whether the provider itself has closed the last sideband. */
  get isLeft(): boolean {
    return this.#state.call.sideband.isLeft;
  }

  /** Takes note of the record as saved or loaded. Once another node owns the call, that node reports its usage. */
  applyRecord(record: CallRecord): void {
    this.#send({ type: 'RECORD', at: this.#now, record });
    this.pages.follow();
  }

  /** Tokens that a response may have now; undefined where nothing limits it. @throws Unavailable */
  async boundOnResponses(): Promise<number | undefined> {
    const tokens = await this.#deps.budgets.boundOf(this.#metered);
    this.#send({ type: 'GRANTED', at: this.#now, tokens: tokens ?? Infinity });
    return tokens;
  }

  /** The call was taken from another node, which counted everything until `sinceMs`. */
  noteTaken(sinceMs: number): void {
    this.#send({ type: 'TAKEN', at: this.#now, sinceMs });
    this.#time?.takenOver(this.record);
    // Nobody knows whether the visitor has spoken in the call or since, so we assume that they have.
    this.firstWords.hear({ type: 'words' });
    this.pages.takenOver();
  }

  /** The provider has created the call. @throws Unavailable when that cannot be saved */
  async created({ providerCallId }: CreatedCall): Promise<void> {
    const at = this.#now;
    const providerEndsAtMs = at + maxCallMs(this.#deps.provider);
    const event = { type: 'CREATED', at, providerCallId, providerEndsAtMs } as const;
    this.#send(event);
    await this.#saver.save(event);
  }

  /** The provider has created no call. @throws Unavailable */
  createFailed(): Promise<void> {
    return this.#saver.save({ type: 'CREATE_FAILED', at: this.#now });
  }

  /** Attaches to the call where it is metered by its events, and opens it. @throws CallOver, UpstreamFault or Unavailable */
  async open(signal: AbortSignal): Promise<void> {
    if (this.#state.call.needsSideband) await this.#connection.open(signal);
    await this.#saver.save({ type: 'READY', at: this.#now });
  }

  /** Ends the call. The provider is asked to hang up even while the database is away. Never rejects. */
  async close(reason: CloseRequest): Promise<void> {
    const isSaving = this.#state.states?.record === 'saving';
    this.#send({ type: 'CLOSE', at: this.#now, reason });
    if (!isSaving) await this.#saver.settled();
  }

  /** Resolves once the agent has said everything that it was asked to say. */
  readonly saidAll = (): Promise<void> => this.#quiet.saidAll();

  /** Cuts off what is being said, and waits a moment to hear what it cost. */
  cancelSpeech(): Promise<void> {
    return this.#cutOff({ type: 'CANCEL_SPEECH', at: this.#now }, CANCEL_MS);
  }

  /** This node stops and no other takes the call at once: what is being said is cut off and charged. */
  async cutOff(): Promise<void> {
    await this.#cutOff({ type: 'CUT_OFF', at: this.#now }, CUT_OFF_MS);
    this.#send({ type: 'SETTLE_RESPONSES', at: this.#now });
  }

  /** Counts all usage before the record closes: afterwards nobody would mark it as a gap. @throws Unavailable */
  async settleUsage(): Promise<void> {
    this.#send({ type: 'SETTLE', at: this.#now });
    await this.#deps.metering.flushCall(this.record.id);
  }

  /** Closes the sideband for as long as this node may not hold calls. */
  drop(): void {
    this.#send({ type: 'LEASE_LOST', at: this.#now, jitter: this.#deps.random() });
  }

  /** Hands over to another node: stops hearing the call, and saves that. @param at everything heard until then is counted @throws Unavailable */
  async handOver(at: number): Promise<void> {
    await this.pages.handOver();
    this.#send({ type: 'HAND_OVER', at });
    await this.#saver.settled();
    if (this.#state.states?.record === 'behind') throw new Unavailable('database', new Error('not saved'));
  }

  /** Does what is due by now: call it several times a second. */
  follow(): void {
    if (this.isReleased) return;
    const at = this.#now;
    this.#send({ type: 'CLOCK', at, mayHear: this.#deps.lease.mayHoldCalls });
    this.pages.follow();
    if (mayHaveSpoken(this.#state.call, at)) for (const type of ['activity', 'words'] as const) this.hear({ type });
    if (this.record.state === 'open' && this.#state.states?.record === 'saved')
      this.#time?.tellNowAndThen(this.record.openedAtMs);
  }

  /** This node no longer holds the call. */
  release(): void {
    this.#send({ type: 'RELEASE', at: this.#now });
  }

  /** Charges for a tool call, once for each key. */
  charge(key: string, microDollars: number): void {
    if (microDollars > 0) this.#deps.metering.hear(this.#metered, { type: 'usageTool', key, microDollars }, this.#now);
  }

  get #now(): number {
    return this.#deps.clock.now();
  }

  #send(event: HeldCallEvent): void {
    if (this.isReleased) return;
    for (const command of this.#state.send(event)) this.#do(command);
    if (!this.isReleased) return;
    this.#deps.budgets.release(this.#metered.callId);
    this.pages.release();
  }

  #do(command: HeldCallCommand): void {
    const { metering, hangUps, running, events } = this.#deps;
    const { sideband } = this.#connection;
    switch (command.type) {
      case 'save':
      case 'awaitHangUps':
        return this.#saver.begin(command);
      case 'saveAlive':
        return running.start(this.#saver.save({ type: 'HEARD', at: this.#now }));
      case 'hangUp':
        return hangUps.start({ ...this.record, providerCallId: command.providerCallId }, this, ({ answer }) =>
          this.#send({ type: 'UNSAVED_HANGUP_ANSWERED', at: this.#now, askedAtMs: command.askedAtMs, answer }),
        );
      case 'dial':
        return running.start(this.#connection.redial().then(() => this.#saver.settled()));
      case 'closeSideband':
        return this.#connection.close();
      case 'cancelResponse':
        return sideband?.cancelResponse(command.id);
      case 'createResponse':
        return sideband?.createResponse(command.instructions);
      case 'clearSpeech':
        return sideband?.clearSpeech();
      case 'restoreConfig':
        return sideband?.restoreConfig();
      case 'askWhoIsThere':
        return this.conversation.askWhoIsThere();
      case 'charge':
        return metering.hear(this.#metered, { ...command, type: 'usageEstimated' }, this.#now);
      case 'gap':
        return metering.gap(this.#metered, command.fromMs, command.untilMs);
      case 'quiet':
        return this.#quiet.note();
      case 'left':
        return this.#time?.tell(command.openedAtMs, command.untilMs);
      case 'confirmed':
        return events.hangupConfirmed(command.afterMs);
    }
  }

  #affords(started: Extract<UpstreamEvent, { type: 'responseStarted' }>): boolean {
    const { budgets, metering } = this.#deps;
    const { callId } = this.#metered;
    const worstCases = worstCasesWith(this.#state.call, started, this.#now);
    return worstCases !== undefined && budgets.affords(callId, worstCases, metering.uncounted(callId));
  }

  async #cutOff(event: HeldCallEvent, ms: number): Promise<void> {
    this.#send(event);
    await withTimeout(ms, this.#quiet.ended());
  }
}

/** What the calls of a node share, with the calls that it holds. */
export interface CallHolder extends CallDeps {
  /** Makes this node hold the call from now on. @param setup undefined where it is no longer kept */
  readonly hold: (record: CallRecord, setup: SessionSetup | undefined) => HeldCall;
  /** The held call, where this node holds it. */
  readonly heldOf: (callId: string) => HeldCall | undefined;
  /** Renews this node's lease, if that is due. @throws Unavailable when the database is away */
  readonly renewLease: () => Promise<void>;
}
