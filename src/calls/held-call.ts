import type { CallEvent, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import type { MeteredCall } from '../metering/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import { CallOver, UpstreamFault, type CreatedCall, type UpstreamEvent } from '../upstream/contract.ts';
import { attach } from './attach.ts';
import { CallEnd } from './call-end.ts';
import { ConnectedTime } from './connected-time.ts';
import { dialWithRetries } from './dial-with-retries.ts';
import type { HangUpListener } from './hang-ups.ts';
import type { HeldCallDeps } from './held-call-deps.ts';
import { SidebandConnection } from './sideband-connection.ts';
import { createListener } from './listener.ts';
import { maxCallMs } from './max-call-time.ts';
import { meteredCall, openResponsesOf } from './metered-call.ts';
import { isOwnerOnly } from './owner-only.ts';
import { ResponseGuard } from './response-guard.ts';
import { mayHaveSpoken, GapTracker } from './gap-tracker.ts';

/**
 * One call that this node owns: hears it, and keeps its record true to what it hears. What cannot be saved, because the database is away,
 * is tried again at each `follow`; what has to end is hung up all the same.
 */
export class HeldCall implements HangUpListener {
  readonly hear: (event: UpstreamEvent) => void;
  readonly #deps: HeldCallDeps;
  readonly #setup: SessionSetup | undefined;
  readonly #fence: number;
  readonly #connection: SidebandConnection;
  readonly #end: CallEnd;
  readonly #responses: ResponseGuard;
  readonly #metered: MeteredCall;
  /** Of a call that is metered by the clock. */
  readonly #time: ConnectedTime | undefined;
  /** Of a call that is metered by its events. */
  readonly #unheard: GapTracker | undefined;
  #record: CallRecord;
  #created: CreatedCall | undefined;
  #closingAtMs: number | undefined;
  #isFollowing = false;
  /** Something came up while a `follow` was under way. */
  #isBehind = false;
  #isReleased = false;
  /** Of the request that opens the call, while that is under way: what is done meanwhile is done for it. */
  requestId: string | undefined;

  /** @param setup undefined where it is not kept any more: then the call is not heard */
  constructor(record: CallRecord, setup: SessionSetup | undefined, deps: HeldCallDeps) {
    this.#deps = deps;
    this.#setup = setup;
    this.#record = record;
    this.#fence = record.fence;
    this.#end = new CallEnd({
      hangUps: deps.hangUps,
      listener: this,
      record: () => this.#record,
      providerCallId: () => this.#record.providerCallId ?? this.#created?.providerCallId ?? null,
      isLeft: () => this.isLeft,
      saveCreated: () => this.#saveCreated(),
      settleUsage: () => this.settleUsage(),
      unheardSinceMs: () => this.#unheard?.unsavedSinceMs(this.#record),
      send: (event) => this.#send(event),
    });
    this.#metered = meteredCall(record, setup);
    const meter = deps.provider?.capabilities.meter ?? 'events';
    if (meter === 'clock') this.#time = new ConnectedTime(this.#metered, deps);
    if (meter === 'events') this.#unheard = new GapTracker(this.#metered, deps.metering);
    this.#responses = new ResponseGuard(openResponsesOf(setup, deps.maxOpenResponses), {
      ...deps,
      metered: this.#metered,
      sideband: () => this.#connection.sideband,
      tampered: () => deps.running.start(this.close('tampered')),
    });
    const listen = createListener(
      {
        call: record,
        metered: this.#metered,
        responses: this.#responses,
        close: (reason) => deps.running.start(this.close(reason)),
        over: (reason) => {
          this.#end.say(reason);
          deps.running.start(this.#followNow());
        },
      },
      deps,
    );
    this.hear = (event) => {
      if (this.#end.isContradictedBy(event)) deps.running.start(this.#send({ type: 'HEARD', at: deps.clock.now() }));
      listen(event);
    };
    this.#connection = new SidebandConnection({
      attach: async (signal) =>
        attach(deps.provider, this.#record, setup, await this.#responses.bound(), this.hear, signal),
      attached: () => this.#responses.attached(),
      clock: deps.clock,
      random: deps.random,
      lost: (isDropped) => this.#lost(isDropped),
    });
    if (record.providerCallId !== null) deps.metering.begin(this.#metered, deps.clock.now());
    deps.budgets.watch(this.#metered, (tokens) => this.#responses.limit(tokens));
  }

  /** As it is known here. */
  get record(): CallRecord {
    return this.#record;
  }

  /** True once it is over, or another node's. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Nobody here has the credential to ask for it. */
  get isForeign(): boolean {
    return this.#record.hangup === 'unconfirmed';
  }

  get hasSideband(): boolean {
    return this.#connection.sideband !== undefined;
  }

  /** Whether the provider itself has closed the last sideband. */
  get isLeft(): boolean {
    return this.#connection.isLeft;
  }

  /** Takes note of the record as it was saved or loaded. What a call of another node uses, that one tells. */
  note(record: CallRecord): void {
    const before = this.#record;
    if (record.version <= before.version) return;
    this.#record = record;
    if (record.fence !== this.#fence) return this.release();
    const at = this.#deps.clock.now();
    this.#unheard?.moved(before, record, this.#connection, this.#end.latestMs(at));
    if (before.state === 'open' && record.state !== 'open') this.#time?.tell(record.openedAtMs, this.#end.latestMs(at));
    if (before.state !== 'closing' && record.state === 'closing') this.#closingAtMs = at;
    if (record.hangup === 'confirmed' && this.#closingAtMs !== undefined)
      this.#deps.events.hangupConfirmed(at - this.#closingAtMs);
    if (record.state === 'closed') this.#responses.settle(record.overAtMs);
    if (record.state === 'closed') this.release();
  }

  /** Tokens that a response may have by now; undefined where nothing bounds it. @throws Unavailable */
  boundOnResponses(): Promise<number | undefined> {
    return this.#responses.bound();
  }

  /** Marks what nobody counted of a call that another node was hanging up; of one that is open that is told when it is heard again. */
  noteUncounted(sinceMs: number): void {
    this.#responses.taken(sinceMs);
    this.#unheard?.taken(this.#record, sinceMs, this.#deps.clock.now());
    this.#time?.taken(this.#record);
  }

  /** The provider has created the call. @throws Unavailable when that cannot be saved */
  async created(call: CreatedCall): Promise<CallRecord> {
    this.#created = call;
    await this.#saveCreated();
    return this.#record;
  }

  /** The provider has created no call. @throws Unavailable */
  async createFailed(): Promise<void> {
    await this.#send({ type: 'CREATE_FAILED', at: this.#deps.clock.now() });
  }

  /** Hears the call, where that is what it is metered by, and opens it. @throws CallOver, UpstreamFault or Unavailable */
  async open(signal: AbortSignal): Promise<CallRecord> {
    const { readyMs: budgetMs, pause } = this.#deps;
    if (this.#unheard !== undefined)
      await dialWithRetries(() => this.#connection.dial(signal), { budgetMs, signal, pause });
    await this.#send({ type: 'READY', at: this.#deps.clock.now() });
    return this.#record;
  }

  /** Ends the call. While the database is away the provider is asked all the same. Never rejects. */
  async close(reason: CloseRequest): Promise<void> {
    this.#end.want(reason);
    await this.#followNow();
  }

  /** Cuts off what is being said, and waits a moment for what it cost. */
  cancelSpeech(): Promise<void> {
    return this.#responses.cancelSpeech();
  }

  /** This node stops, and no other takes the call at once: what is being said is cut off and charged. */
  cutOff(): Promise<void> {
    return this.#responses.cutOff();
  }

  /** Before the record closes: nobody marks later what was not counted. @throws Unavailable */
  async settleUsage(): Promise<void> {
    this.#responses.settle(this.#record.overAtMs);
    this.#unheard?.over(this.#record, this.#connection, this.#end.latestMs(this.#deps.clock.now()));
    await this.#deps.metering.flushCall(this.#record.id);
  }

  /** Lets go of the sideband for as long as this node may not hold calls. */
  drop(): void {
    this.#connection.drop();
  }

  /** To another node: hears the call no more, and saves that. @param at until then all that was heard is counted @throws Unavailable */
  async handOver(at: number): Promise<void> {
    this.#connection.close();
    if (this.#unheard !== undefined) await this.#send({ type: 'SIDEBAND_LOST', at });
  }

  /** Saves what was not saved, and hears the call again where its sideband was lost. Never rejects. */
  async follow(): Promise<void> {
    if (this.#isFollowing || this.#isReleased) return;
    this.#responses.tick();
    this.#isFollowing = true;
    do {
      this.#isBehind = false;
      await this.#saveAndHear();
    } while (this.#isBehind && !this.#isReleased);
    this.#isFollowing = false;
  }

  /** This node holds the call no more. */
  release(): void {
    this.#isReleased = true;
    this.#connection.close();
    this.#deps.budgets.release(this.#metered.callId);
  }

  /** What came up while another `follow` is under way is saved right after it. */
  async #followNow(): Promise<void> {
    this.#isBehind = true;
    await this.follow();
  }

  get #isHeard(): boolean {
    return this.#unheard === undefined || this.hasSideband;
  }

  #lost(isDropped: boolean): void {
    const { hangUps, running } = this.#deps;
    this.#responses.lost(this.#connection.lostAtMs ?? this.#deps.clock.now());
    this.#unheard?.lost(this.#record, this.#connection.lostAtMs, !isDropped && hangUps.isUnderWay(this.#record.id));
    this.#end.sidebandLost();
    running.start(this.follow());
  }

  async #saveAndHear(): Promise<void> {
    try {
      await this.#end.save(this.#deps.clock.now());
      if (this.#record.state === 'open' && !this.#isReleased) await this.#hear();
    } catch (fault) {
      this.#deps.events.faulted(fault, undefined, 'calls');
    }
  }

  async #hear(): Promise<void> {
    const { clock, metering, provider, mayHear, running } = this.#deps;
    const { unheardSinceMs } = this.#record;
    if (this.#isHeard && unheardSinceMs !== null) {
      // Counted first: once that is saved the record knows of no gap.
      this.#unheard?.over(this.#record, this.#connection, clock.now());
      await metering.flushCall(this.#record.id);
      await this.#send({ type: 'READY', at: clock.now() });
    }
    if (this.#isHeard) return this.#time?.tellNowAndThen(this.#record.openedAtMs);
    const sinceMs = unheardSinceMs ?? this.#connection.lostAtMs ?? clock.now();
    if (mayHaveSpoken(sinceMs, clock.now())) this.hear({ type: 'activity' });
    if (unheardSinceMs === null) await this.#send({ type: 'SIDEBAND_LOST', at: sinceMs });
    const isHearable = this.#record.state === 'open' && this.#setup !== undefined && provider !== undefined;
    if (isHearable && this.#connection.isDue && mayHear()) running.start(this.#redial());
  }

  async #redial(): Promise<void> {
    const { readyMs, events } = this.#deps;
    try {
      await this.#connection.dial(AbortSignal.timeout(readyMs));
    } catch (fault) {
      if (fault instanceof CallOver) this.#end.say('lost');
      else if (fault instanceof UpstreamFault) return events.dependencyAway('provider', fault, undefined, 'sideband');
      else throw fault;
    }
    await this.#followNow();
  }

  async #saveCreated(): Promise<void> {
    const { clock, provider, metering } = this.#deps;
    if (this.#created === undefined || this.#record.providerCallId !== null) return;
    const at = clock.now();
    const { providerCallId } = this.#created;
    await this.#send({ type: 'CREATED', at, providerCallId, providerEndsAtMs: at + maxCallMs(provider) });
    metering.begin(this.#metered, at);
  }

  /** What only the owner may tell is told by it alone. */
  async #send(event: CallEvent): Promise<void> {
    const mayTell = ({ fence }: CallRecord): boolean => fence === this.#fence || !isOwnerOnly(event);
    const outcome = await this.#deps.host.send(this.#record.id, { ...event, requestId: this.requestId }, mayTell);
    if (outcome === undefined) this.release();
    else this.note(outcome.record);
  }
}
