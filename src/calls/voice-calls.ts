import { heldCallMachine } from '../../machines/held-call/machine.ts';
import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import { awaitedUntilMs } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallFact, CallRecord } from '../../machines/voice-call/types.ts';
import { createHost } from '../actors/host.ts';
import { Steps } from '../actors/steps.ts';
import { BackgroundTasks, deadline, settleAll } from '../kernel/async.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { upstreamRefusal, type Refusal } from '../protocol/refusal.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import { isBrokered } from '../upstream/contract.ts';
import { PageRequests, OpenResponses } from './bus-requests.ts';
import { type CallHolder, HeldCall } from './held-call.ts';
import type { OpenCallRequest, OpenedCall } from './contract.ts';
import type { VoiceCallsDeps } from './deps.ts';
import { RemoteHangUps, runDueCall } from './due-calls.ts';
import { closeReasonFor, followSessions, noteHeard } from './follow-sessions.ts';
import {
  cutOffUnlessTaken,
  finishCalls,
  handOverCalls,
  reloadChangedCalls,
  takeOrphans,
  type DoubtfulTake,
} from './handover.ts';
import { ProviderAccounts, HangUps } from './hang-ups.ts';
import { openCall } from './open-call.ts';
import { RoomCalls } from './room-calls.ts';

/** How often the sessions of held calls, and other nodes' orphans, are looked up. */
const LOOK_MS = 1000;
/** More than the hang-ups that run at once, because those under way are due as well. */
const MAX_DUE = 1000;
const MAX_CONCURRENT = 50;

/** The calls at the provider that this node holds: every change of a call goes through its actor here, and the provider is asked for every end. */
export class VoiceCalls {
  readonly node: string;
  readonly #deps: CallHolder;
  readonly #held = new Map<string, HeldCall>();
  readonly #remote: RemoteHangUps;
  readonly #pages: PageRequests;
  readonly #doubtful = new Map<string, DoubtfulTake>();
  readonly #unsubscribe: () => void;
  #lookedAtMs = -Infinity;
  readonly #responses: OpenResponses;

  constructor(deps: VoiceCallsDeps) {
    const { lease, provider, others = [], installationKey, store, bus, trace, onError, events } = deps;
    this.node = lease.node;
    const accounts = new ProviderAccounts(provider, others, installationKey);
    const running = new BackgroundTasks(onError);
    this.#deps = {
      ...deps,
      random: deps.random ?? Math.random,
      after: deps.after ?? deadline,
      accounts,
      running,
      hangUps: new HangUps({ accounts, running, onError, events }),
      host: createHost<CallRecord, CallEvent, CallFact>({
        machine: createVoiceCallMachine(deps.limits),
        store,
        stateOf: ({ state }) => state,
        settled: (record, facts) => this.#settled(record, facts),
        trace,
      }),
      steps: new Steps(heldCallMachine),
      hold: (record, setup) => this.#hold(record, setup),
      heldOf: (callId) => this.#held.get(callId),
      renewLease: () => this.renewLease(),
    };
    this.#remote = new RemoteHangUps(this.#deps);
    this.#pages = new PageRequests(deps);
    this.#responses = new OpenResponses(this.#deps);
    this.#unsubscribe = bus.subscribe({
      ...this.#pages.listeners,
      ...this.#responses.listeners,
      'session.moved': ({ sessionId, state }, isOwn) => this.#sessionMoved(sessionId, closeReasonFor(state), isOwn),
      'calls.orphaned': () => running.start(this.#takeOrphans()),
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
    return openCall(request, { ...this.#deps, provider });
  }

  /** The calls that pages open themselves, for a provider that has such calls. */
  get ofPages(): RoomCalls {
    return new RoomCalls(this.#deps);
  }

  runningResponses(call: Pick<CallRecord, 'id' | 'sessionId'>): Promise<number | undefined> {
    return this.#responses.of(call);
  }

  /**
   * Another page goes on with a session whose call is over: its own call may follow for CALL_GRACE_SEC from now on.
   * @throws Unavailable when the database is away
   */
  async awaitNext(sessionId: string, at: number): Promise<void> {
    const { store, host, limits } = this.#deps;
    const event = { type: 'AWAITED', at, untilMs: at + limits.graceSec * SECOND_MS } as const;
    for (const call of await store.ofSession(sessionId))
      if (awaitedUntilMs(call) !== null) await host.send(call.id, event);
  }

  /** Renews this node's lease where that is due: call it every second. @throws Unavailable when the database is away */
  async renewLease(): Promise<void> {
    // A process that was suspended notices by its clock: it first lets go of calls that others may have taken.
    this.#dropIfLapsed();
    await this.#deps.lease.renewForCalls(() => this.#deps.metering.flush());
  }

  /** Does what needs no database: lets go of calls that others may take, and ends calls that can be neither heard nor counted any more. */
  guard(): void {
    const { metering, bus, lease, running, limits } = this.#deps;
    for (const [id, { isReleased, record, pages }] of this.#held) {
      if (!isReleased) continue;
      this.#held.delete(id);
      this.#pages.remove(record.sessionId, pages);
      bus.followed?.remove(record.sessionId);
    }
    this.#dropIfLapsed();
    if (lease.isUncountedTooLong(metering.waitingSinceMs, limits.unheardSec))
      for (const call of this.#held.values()) running.start(call.close('unheard'));
  }

  /** Does what is due: call it several times a second. @throws Unavailable when the database is away */
  async tick(): Promise<void> {
    this.guard();
    for (const call of this.#held.values()) call.follow();
    const at = this.#deps.clock.now();
    const isLookDue = at - this.#lookedAtMs >= LOOK_MS;
    if (isLookDue) {
      this.#lookedAtMs = at;
      await followSessions([...this.#held.values()], at, this.#deps);
    }
    await this.#runDueCalls(at);
    await this.#remote.look();
    if (!isLookDue) return;
    await reloadChangedCalls(this.#held.values(), this.#deps.store);
    await this.#takeOrphans();
  }

  /** Resolves when no background work is under way. */
  settled(): Promise<void> {
    return this.#deps.running.settled();
  }

  /** Hands all calls to the other nodes. Never rejects. */
  async stop(): Promise<void> {
    const { bus, metering, running, onError } = this.#deps;
    const held = [...this.#held.values()];
    this.#unsubscribe();
    await finishCalls(held, this.#deps);
    await cutOffUnlessTaken(held, this.#deps).catch(onError);
    await running.settled();
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
    const { accounts, bus } = this.#deps;
    const call = new HeldCall(record, setup, { ...this.#deps, provider: accounts.of(record) });
    if (!this.#held.has(record.id)) bus.followed?.add(record.sessionId);
    this.#held.set(record.id, call);
    this.#pages.add(record.sessionId, call.pages);
    call.pages.follow();
    return call;
  }

  async #settled(record: CallRecord, facts: readonly CallFact[]): Promise<void> {
    const { events, clock, running } = this.#deps;
    this.#held.get(record.id)?.applyRecord(record);
    for (const fact of facts) {
      if (fact.type === 'call.opened') {
        events.callOpened(record);
        this.#tell(record, 'ready');
      }
      if (fact.type === 'call.closed') {
        events.callClosed(record);
        if (record.openedAtMs === null) continue;
        this.#tell(record, 'over');
        const at = clock.now();
        noteHeard(record.sessionId, at, at, this.#deps);
      }
    }
    // What is due at once does not wait for the next look.
    if (record.ownerNode === this.node) running.start(runDueCall(record, this.#deps));
    else if (record.state === 'closing') this.#remote.note(record);
  }

  #tell({ id: callId, sessionId }: CallRecord, event: 'ready' | 'over'): void {
    this.#deps.bus.publish({ type: 'call.told', sessionId, callId, event });
  }

  async #runDueCalls(at: number): Promise<void> {
    const due = await this.#deps.store.due(this.node, at, MAX_DUE);
    for (const record of due) this.#held.get(record.id)?.applyRecord(record);
    await settleAll(due, (record) => runDueCall(record, this.#deps), MAX_CONCURRENT);
  }

  async #takeOrphans(): Promise<void> {
    if (this.#deps.lease.mayHoldCalls) await takeOrphans({ ...this.#deps, doubtful: this.#doubtful });
  }

  #sessionMoved(sessionId: string, reason: ReturnType<typeof closeReasonFor>, isOwn: boolean): void {
    if (reason === undefined) return;
    const { running, recaps } = this.#deps;
    if (reason === 'session_ended') running.start(recaps.forget(sessionId));
    const calls = [...this.#held.values()].filter(({ record }) => record.sessionId === sessionId);
    for (const call of calls) running.start(call.close(reason));
    // A session has one current call; those that are closing already are former ones.
    const isPresentHeld = calls.some(({ record }) => record.closeReason === null);
    if (isOwn && !isPresentHeld) running.start(this.#remote.closeAll(sessionId, reason));
  }
}
