import { heldCallMachine } from '../../machines/held-call/machine.ts';
import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import type { CallEvent, CallFact, CallRecord } from '../../machines/voice-call/types.ts';
import { createHost, type Host } from '../actors/host.ts';
import { Steps } from '../actors/steps.ts';
import { BackgroundTasks } from '../kernel/background-tasks.ts';
import { deadline } from '../kernel/deadline.ts';
import { settleAll } from '../kernel/settle-all.ts';
import { upstreamRefusal, type Refusal } from '../protocol/refusal.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import { isBrokered } from '../upstream/contract.ts';
import { Accounts } from './accounts.ts';
import type { Calls, OpenCallRequest, OpenedCall } from './contract.ts';
import { closeReasonFor, followSessions } from './follow-sessions.ts';
import { HangUps } from './hang-ups.ts';
import { cutOffUnlessTaken, finishCalls, handOverCalls } from './hand-over-calls.ts';
import type { HeldCallSteps } from './held-call-state.ts';
import { HeldCall } from './held-call.ts';
import { PageRequests } from './pages/page-requests.ts';
import { openCall } from './open-call.ts';
import { OpenResponses } from './open-responses.ts';
import { PageCalls } from './page-calls.ts';
import { RemoteHangUps } from './remote-hang-ups.ts';
import { runDueCall } from './run-due-call.ts';
import { type DoubtfulTake, reloadChangedCalls, takeOrphans } from './take-over.ts';
import type { VoiceCallsDeps, VoiceCallsOptions } from './voice-calls-deps.ts';

/** How often the sessions of held calls, and other nodes' orphans, are looked up. */
const LOOK_MS = 1000;
/** More than the hang-ups that run at once, because those under way are due as well. */
const MAX_DUE = 1000;
const MAX_CONCURRENT = 50;

/** The calls at the provider that this node holds: every change of a call goes through its actor here, and the provider is asked for every end. */
export class VoiceCalls implements Calls {
  readonly node: string;
  readonly #options: VoiceCallsOptions;
  readonly #deps: VoiceCallsDeps;
  readonly #accounts: Accounts;
  readonly #running: BackgroundTasks;
  readonly #hangUps: HangUps;
  readonly #host: Host<CallRecord, CallEvent, CallFact>;
  readonly #steps: HeldCallSteps = new Steps(heldCallMachine);
  readonly #held = new Map<string, HeldCall>();
  readonly #remote: RemoteHangUps;
  readonly #pages: PageRequests;
  readonly #doubtful = new Map<string, DoubtfulTake>();
  readonly #unsubscribe: () => void;
  #lookedAtMs = -Infinity;
  readonly #responses: OpenResponses;

  constructor(options: VoiceCallsOptions, deps: VoiceCallsDeps) {
    const { lease, provider, store, bus, trace, onError, events } = deps;
    this.node = lease.node;
    this.#options = options;
    this.#deps = deps;
    this.#accounts = new Accounts(provider, deps.others ?? [], deps.installationKey);
    this.#running = new BackgroundTasks(onError);
    this.#hangUps = new HangUps({ accounts: this.#accounts, running: this.#running, onError, events });
    this.#host = createHost<CallRecord, CallEvent, CallFact>({
      machine: createVoiceCallMachine(options.limits),
      store,
      stateOf: ({ state }) => state,
      settled: (record, facts) => this.#settled(record, facts),
      trace,
    });
    this.#remote = new RemoteHangUps({
      ...deps,
      node: this.node,
      host: this.#host,
      accounts: this.#accounts,
      hangUps: this.#hangUps,
    });
    this.#pages = new PageRequests(deps);
    this.#responses = new OpenResponses({ bus, heldOf: (id) => this.#held.get(id), after: deps.after ?? deadline });
    this.#unsubscribe = bus.subscribe((message, isOwn) => {
      if (message.type === 'session.moved') this.#sessionMoved(message.sessionId, closeReasonFor(message.state), isOwn);
      this.#pages.hear(message);
      this.#responses.hear(message);
      if (message.type === 'calls.orphaned') this.#running.start(this.#takeOrphans());
    });
  }

  /** Calls that this node holds. */
  get held(): number {
    return this.#held.size;
  }

  /** How many of those this service has no credential to ask for. */
  get foreign(): number {
    return [...this.#held.values()].filter(({ isForeign }) => isForeign).length;
  }

  get sidebands(): number {
    return [...this.#held.values()].filter(({ hasSideband }) => hasSideband).length;
  }

  async open(request: OpenCallRequest): Promise<OpenedCall | Refusal> {
    const { provider } = this.#deps;
    if (!isBrokered(provider)) return upstreamRefusal();
    await this.renewLease();
    return openCall(request, {
      ...this.#options,
      ...this.#deps,
      provider,
      node: this.node,
      fingerprint: this.#accounts.fingerprint,
      host: this.#host,
      hold: (record, setup) => this.#hold(record, setup),
    });
  }

  /** The calls that pages open themselves, for a provider that has such calls. */
  get ofPages(): PageCalls {
    return new PageCalls({
      ...this.#options,
      ...this.#deps,
      node: this.node,
      fingerprint: this.#accounts.fingerprint,
      host: this.#host,
      renewLease: () => this.renewLease(),
      hold: (record, setup) => this.#hold(record, setup),
    });
  }

  runningResponses(call: Pick<CallRecord, 'id' | 'sessionId'>): Promise<number | undefined> {
    return this.#responses.of(call);
  }

  ofSession(sessionId: string): Promise<readonly CallRecord[]> {
    return this.#deps.store.ofSession(sessionId);
  }

  /** Renews this node's lease where that is due: call it every second. @throws Unavailable when the database is away */
  async renewLease(): Promise<void> {
    // A process that was suspended notices by its clock: it first lets go of calls that others may have taken.
    this.#dropIfLapsed();
    await this.#deps.lease.renewForCalls(() => this.#deps.metering.flush());
  }

  /** Does what needs no database: lets go of calls that others may take, and ends calls that can be neither heard nor counted any more. */
  guard(): void {
    const { metering, bus } = this.#deps;
    for (const [id, { isReleased, record, pages }] of this.#held) {
      if (!isReleased) continue;
      this.#held.delete(id);
      this.#pages.remove(record.sessionId, pages);
      bus.followed?.remove(record.sessionId);
    }
    this.#dropIfLapsed();
    if (this.#deps.lease.isUncountedTooLong(metering.waitingSinceMs, this.#options.limits.unheardSec))
      for (const call of this.#held.values()) this.#running.start(call.close('unheard'));
  }

  /** Does what is due: call it several times a second. @throws Unavailable when the database is away */
  async tick(): Promise<void> {
    this.guard();
    for (const call of this.#held.values()) call.follow();
    const at = this.#deps.clock.now();
    const isLookDue = at - this.#lookedAtMs >= LOOK_MS;
    if (isLookDue) {
      this.#lookedAtMs = at;
      const [limits, noteHeard] = [this.#options.voiceLimits, this.#noteHeard.bind(this)];
      const isOpenedByPages = this.#options.limits.returnSec !== undefined;
      await followSessions([...this.#held.values()], at, { ...this.#deps, limits, noteHeard, isOpenedByPages });
    }
    await this.#runDueCalls(at);
    await this.#remote.look();
    if (!isLookDue) return;
    await reloadChangedCalls(this.#held.values(), this.#deps.store);
    await this.#takeOrphans();
  }

  /** Resolves when no background work is under way. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  /** Hands all calls to the other nodes. Never rejects. */
  async stop(): Promise<void> {
    const { bus, metering, onError } = this.#deps;
    const held = [...this.#held.values()];
    this.#unsubscribe();
    await finishCalls(held, this.#deps);
    await cutOffUnlessTaken(held, this.#deps).catch(onError);
    await this.#running.settled();
    await handOverCalls(held, this.#deps).catch(onError);
    for (const call of held) call.release();
    this.#held.clear();
    bus.publish({ type: 'calls.orphaned' });
    // Counts what was heard until now.
    await metering.flush().catch(onError);
  }

  #dropIfLapsed(): void {
    if (!this.#deps.lease.mayHoldCalls) for (const call of this.#held.values()) call.drop();
  }

  #hold(record: CallRecord, setup: SessionSetup | undefined): HeldCall {
    const { random = Math.random, after = deadline } = this.#deps;
    const call = new HeldCall(record, setup, {
      ...this.#options,
      ...this.#deps,
      provider: this.#accounts.of(record),
      host: this.#host,
      steps: this.#steps,
      hangUps: this.#hangUps,
      mayHear: () => this.#deps.lease.mayHoldCalls,
      running: this.#running,
      random,
      after,
    });
    if (!this.#held.has(record.id)) this.#deps.bus.followed?.add(record.sessionId);
    this.#held.set(record.id, call);
    this.#pages.add(record.sessionId, call.pages);
    call.pages.follow();
    return call;
  }

  async #settled(record: CallRecord, facts: readonly CallFact[]): Promise<void> {
    const { events } = this.#deps;
    this.#held.get(record.id)?.note(record);
    for (const fact of facts) {
      if (fact.type === 'call.opened') {
        events.callOpened(record);
        this.#tell(record, 'ready');
      }
      if (fact.type === 'call.closed') {
        events.callClosed(record);
        if (record.openedAtMs === null) continue;
        this.#tell(record, 'over');
        const at = this.#deps.clock.now();
        this.#noteHeard(record.sessionId, at, at);
      }
    }
    // What is due at once does not wait for the next look.
    if (record.ownerNode === this.node) this.#running.start(this.#act(record));
    else if (record.state === 'closing') this.#remote.note(record);
  }

  #tell({ id: callId, sessionId }: CallRecord, event: 'ready' | 'over'): void {
    this.#deps.bus.publish({ type: 'call.told', sessionId, callId, event });
  }

  /** In the background: if it is lost, the next look tells the session again, or the mark lapses. */
  #noteHeard(sessionId: string, at: number, untilMs: number): void {
    this.#running.start((async () => this.#deps.sessions.noteHeard(sessionId, at, untilMs))());
  }

  #act(record: CallRecord): Promise<void> {
    return runDueCall(record, {
      ...this.#deps,
      host: this.#host,
      hangUps: this.#hangUps,
      heldOf: (id) => this.#held.get(id),
    });
  }

  async #runDueCalls(at: number): Promise<void> {
    const due = await this.#deps.store.due(this.node, at, MAX_DUE);
    for (const record of due) this.#held.get(record.id)?.note(record);
    await settleAll(due, (record) => this.#act(record), MAX_CONCURRENT);
  }

  async #takeOrphans(): Promise<void> {
    if (!this.#deps.lease.mayHoldCalls) return;
    await takeOrphans({
      ...this.#deps,
      accounts: this.#accounts,
      doubtful: this.#doubtful,
      host: this.#host,
      hold: (record, setup, uncountedSinceMs) => {
        const call = this.#hold(record, setup);
        call.noteTaken(uncountedSinceMs);
        call.follow();
      },
    });
  }

  #sessionMoved(sessionId: string, reason: ReturnType<typeof closeReasonFor>, isOwn: boolean): void {
    if (reason === undefined) return;
    if (reason === 'session_ended') this.#running.start(this.#deps.recaps.forget(sessionId));
    const calls = [...this.#held.values()].filter(({ record }) => record.sessionId === sessionId);
    for (const call of calls) this.#running.start(call.close(reason));
    // A session has one current call; those that are closing already are former ones.
    const isPresentHeld = calls.some(({ record }) => record.closeReason === null);
    if (isOwn && !isPresentHeld) this.#running.start(this.#remote.closeAll(sessionId, reason));
  }
}
