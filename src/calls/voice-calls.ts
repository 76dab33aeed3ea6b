import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import type { CallEvent, CallFact, CallLimits, CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceLimits } from '../../machines/voice-session/types.ts';
import { createHost, type Host } from '../actors/host.ts';
import type { Trace } from '../actors/trace.ts';
import type { Clock } from '../kernel/clock.ts';
import { Running } from '../kernel/running.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { Budgets, Metering } from '../metering/contract.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { SessionSetup, SessionSetups } from '../stores/session-setups/contract.ts';
import type { LiveNodes, VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { BrokeredProvider } from '../upstream/contract.ts';
import type { Calls, CallSessions, OpenCallRequest, OpenedCall } from './contract.ts';
import { actOnDue } from './due.ts';
import { HangUps } from './hang-ups.ts';
import { HeldCall } from './held-call.ts';
import { NodeLease } from './node-lease.ts';
import { openCall } from './open-call.ts';
import { keepInStep, reasonFor } from './sessions-of-calls.ts';
import { takeOrphans } from './take-over.ts';

/** How often the sessions of held calls are looked up, and other nodes' orphans looked for. */
const LOOK_MS = 1000;
/** More than hang-ups run at once, because those under way are due as well. */
const DUE_AT_ONCE = 1000;
const ACTED_AT_ONCE = 50;

export interface VoiceCallsOptions {
  readonly limits: CallLimits;
  readonly voiceLimits: VoiceLimits;
  /** Milliseconds for the provider to answer an offer. */
  readonly createTimeoutMs: number;
  readonly readyMs: number;
  readonly perSession: number;
  readonly maxOpenResponses: number;
}

export interface VoiceCallsDeps {
  /** This process, as the owner of calls. */
  readonly node: string;
  /** That opens new calls. */
  readonly provider: BrokeredProvider;
  readonly store: CallStore;
  readonly nodes: LiveNodes;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly sessions: CallSessions;
  readonly metering: Metering;
  readonly budgets: Budgets;
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** The time that all nodes share. */
  readonly clock: Clock;
  readonly events: Events;
  readonly trace?: Trace<CallRecord> | undefined;
  /** Hears of faults that no caller can be told of. */
  readonly onError: (error: unknown) => void;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** The calls at the provider that this node holds: every change of one goes through its actor here, and every end is asked of the provider. */
export class VoiceCalls implements Calls {
  readonly node: string;
  readonly #options: VoiceCallsOptions;
  readonly #deps: VoiceCallsDeps;
  readonly #providers: ReadonlyMap<string, BrokeredProvider>;
  readonly #lease: NodeLease;
  readonly #running: Running;
  readonly #hangUps: HangUps;
  readonly #host: Host<CallRecord, CallEvent, CallFact>;
  readonly #held = new Map<string, HeldCall>();
  readonly #unsubscribe: () => void;
  #lookedAtMs = -Infinity;

  constructor(options: VoiceCallsOptions, deps: VoiceCallsDeps) {
    const { node, provider, nodes, store, bus, clock, trace, onError } = deps;
    this.node = node;
    this.#options = options;
    this.#deps = deps;
    // Calls of a provider that is not used any more cannot be ended by another.
    this.#providers = new Map([[provider.name, provider]]);
    this.#lease = new NodeLease(this.node, { nodes, clock });
    this.#running = new Running(onError);
    const providerOf = (name: string): BrokeredProvider | undefined => this.#providers.get(name);
    this.#hangUps = new HangUps({ providerOf, running: this.#running, onError });
    this.#host = createHost<CallRecord, CallEvent, CallFact>({
      machine: createVoiceCallMachine(options.limits),
      store,
      stateOf: ({ state }) => state,
      settled: (record, facts) => this.#settled(record, facts),
      trace,
    });
    this.#unsubscribe = bus.subscribe((message) => {
      if (message.type === 'session.moved') this.#sessionMoved(message.sessionId, reasonFor(message.state));
      if (message.type === 'calls.orphaned') this.#running.start(this.#takeOrphans());
    });
  }

  /** Calls that this node holds. */
  get held(): number {
    return this.#held.size;
  }

  get sidebands(): number {
    return [...this.#held.values()].filter(({ hasSideband }) => hasSideband).length;
  }

  async open(request: OpenCallRequest): Promise<OpenedCall | Refusal> {
    const { provider, store, sessions, clock, events } = this.#deps;
    await this.renewLease();
    return openCall(request, {
      ...this.#options,
      provider,
      store,
      sessions,
      clock,
      events,
      host: this.#host,
      node: this.node,
      hold: (record, setup) => this.#hold(record, setup),
    });
  }

  ofSession(sessionId: string): Promise<readonly CallRecord[]> {
    return this.#deps.store.ofSession(sessionId);
  }

  /** Renews this node's lease where that is due: call it every second. @throws Unavailable when the database is away */
  async renewLease(): Promise<void> {
    // A process that stood still finds out by its clock: what others may have taken is looked at before it is heard again.
    this.#dropIfLapsed();
    // A sign of life is a sign that all is counted: who takes the calls over marks a gap from it on.
    const { metering } = this.#deps;
    if (metering.waitingSinceMs !== undefined) await metering.flush();
    await this.#lease.renew();
  }

  /** What needs no database: lets go of what others may take, and ends what can be neither heard nor counted any more. */
  guard(): void {
    for (const [id, call] of this.#held) if (call.isReleased) this.#held.delete(id);
    this.#dropIfLapsed();
    if (this.#isUncountedTooLong()) for (const call of this.#held.values()) this.#running.start(call.close('unheard'));
  }

  /** What is due: call it several times a second. @throws Unavailable when the database is away */
  async tick(): Promise<void> {
    this.guard();
    for (const call of this.#held.values()) this.#running.start(call.follow());
    const at = this.#deps.clock.now();
    const isLookDue = at - this.#lookedAtMs >= LOOK_MS;
    if (isLookDue) {
      this.#lookedAtMs = at;
      const { sessions } = this.#deps;
      const noteHeard = this.#noteHeard.bind(this);
      await keepInStep([...this.#held.values()], at, this.#options.voiceLimits, sessions, noteHeard);
    }
    await this.#actOnDue(at);
    if (isLookDue && this.#lease.isHeld) await this.#takeOrphans();
  }

  /** Resolves when nothing is under way that nobody waits for. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  /** Hands all calls to the other nodes. Never rejects. */
  async stop(): Promise<void> {
    const { bus, metering, onError } = this.#deps;
    this.#unsubscribe();
    await this.#cutOffUnlessTaken().catch(onError);
    await this.#running.settled();
    // A node that could not count what it heard lets its lease lapse: who takes its calls over marks a gap from its last sign of life on.
    await metering
      .flush()
      .then(() => this.#lease.leave())
      .catch(onError);
    for (const call of this.#held.values()) call.release();
    this.#held.clear();
    bus.publish({ type: 'calls.orphaned' });
    // What was heard until now.
    await metering.flush().catch(onError);
  }

  /** Whoever takes a call hears what it is saying, and what that costs; where nobody does it is told now or never. */
  async #cutOffUnlessTaken(): Promise<void> {
    const { nodes, clock } = this.#deps;
    if (this.#held.size === 0 || (await nodes.hasOther(this.node, clock.now()))) return;
    await settleAll([...this.#held.values()], (call) => call.cutOff(), this.#held.size);
  }

  #dropIfLapsed(): void {
    if (!this.#lease.isHeld) for (const call of this.#held.values()) call.drop();
  }

  #hold(record: CallRecord, setup: SessionSetup | undefined): HeldCall {
    const { metering, budgets, sessions, bus, clock, events, random = Math.random } = this.#deps;
    const call = new HeldCall(record, setup, {
      provider: this.#providers.get(record.provider),
      host: this.#host,
      hangUps: this.#hangUps,
      mayHear: () => this.#lease.isHeld,
      running: this.#running,
      readyMs: this.#options.readyMs,
      maxOpenResponses: this.#options.maxOpenResponses,
      metering,
      budgets,
      sessions,
      bus,
      clock,
      events,
      random,
    });
    this.#held.set(record.id, call);
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
    // What is due at once need not wait for the next look.
    if (record.ownerNode === this.node) this.#running.start(this.#act(record));
  }

  #tell({ id: callId, sessionId }: CallRecord, event: 'ready' | 'over'): void {
    this.#deps.bus.publish({ type: 'call.told', sessionId, callId, event });
  }

  /** Nobody waits for it: what is lost is told again at the next look, or lapses. */
  #noteHeard(sessionId: string, at: number, untilMs: number): void {
    const { sessions } = this.#deps;
    this.#running.start((async () => sessions.noteHeard(sessionId, at, untilMs))());
  }

  #act(record: CallRecord): Promise<void> {
    const { store, sessions, metering, clock } = this.#deps;
    return actOnDue(record, {
      metering,
      store,
      sessions,
      clock,
      host: this.#host,
      hangUps: this.#hangUps,
      heldOf: (id) => this.#held.get(id),
    });
  }

  async #actOnDue(at: number): Promise<void> {
    const due = await this.#deps.store.due(this.node, at, DUE_AT_ONCE);
    for (const record of due) this.#held.get(record.id)?.note(record);
    await settleAll(due, (record) => this.#act(record), ACTED_AT_ONCE);
  }

  #takeOrphans(): Promise<void> {
    const { store, setups, clock, events } = this.#deps;
    return takeOrphans({
      store,
      setups,
      clock,
      events,
      host: this.#host,
      node: this.node,
      hold: (record, setup, uncountedSinceMs) => {
        const call = this.#hold(record, setup);
        call.noteUncounted(uncountedSinceMs);
        this.#running.start(call.follow());
      },
    });
  }

  #sessionMoved(sessionId: string, reason: ReturnType<typeof reasonFor>): void {
    if (reason === undefined) return;
    for (const call of this.#held.values())
      if (call.record.sessionId === sessionId) this.#running.start(call.close(reason));
  }

  /** Whether what calls use waits for the database, or this node could not hold them, for longer than a call may go unheard. */
  #isUncountedTooLong(): boolean {
    const { limits } = this.#options;
    const { metering, clock } = this.#deps;
    if (limits.unheardSec === 0) return false;
    const sinceMs = Math.min(metering.waitingSinceMs ?? Infinity, this.#lease.renewedAtMs);
    return clock.now() - sinceMs > limits.unheardSec * 1000;
  }
}
