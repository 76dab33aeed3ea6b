import { BlockList } from 'node:net';
import { beforeEach, expect } from 'vitest';
import type { WorstCase } from '../../../machines/held-call/responses.ts';
import { nextDeadline } from '../../../machines/voice-call/selectors.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { openedRecord } from '../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { OpenedCall } from '../../../src/calls/contract.ts';
import { ResumeTokens } from '../../../src/calls/resume-tokens.ts';
import { SealedRecaps } from '../../../src/calls/pages/context-carryover.ts';
import { createSealer } from '../../../src/kernel/seal.ts';
import { ToolSender } from '../../../src/calls/tools/tool-sender.ts';
import { VoiceCalls } from '../../../src/calls/voice-calls.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { randomId } from '../../../src/kernel/ids.ts';
import { NodeLease } from '../../../src/node/lease.ts';
import type { RemainingBudgets, LimitResponses, MeteredCall, Metering } from '../../../src/metering/contract.ts';
import type { CallFrame, CallRequest } from '../../../src/protocol/call-frames.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { createInProcessBus, listenerOf, createInProcessRecaps } from '../../../src/stores/in-process.ts';
import type { Recaps } from '../../../src/stores/recaps/contract.ts';
import { createPostgresStores } from '../../../src/stores/postgres.ts';
import type { UsageTotals } from '../../../src/stores/ledger/contract.ts';
import type { SessionSetup } from '../../../src/stores/session-setups/contract.ts';
import type { StartedResponse } from '../../../machines/held-call/types.ts';
import type { UpstreamEvent } from '../../../src/upstream/contract.ts';
import { createEvents } from '../../../src/telemetry/events.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { brokeredSetup, brokeredTerms } from '../../support/call-session.ts';
import { ManualClock } from '../../support/clock.ts';
import { FakeBrokeredProvider, type FakeSideband } from '../../support/fake-brokered-provider.ts';
import { ManualTimers } from '../../support/manual-timers.ts';
import { answerSdp, offerSdp } from '../../support/provider/sdp.ts';
import { TestDatabase } from '../../support/test-database.ts';

export const SESSION = 's:00000000000000000000000000000000:AAAAAAAAAAAAAAAAAAAAAA';
/** The secret that signs requests to tools. */
export const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const STEP_MS = 250;

/** The event that an ordinary response has started. */
export function started(id: string, changes: Partial<StartedResponse> = {}): UpstreamEvent {
  const terms = { isInConversation: true, maxOutputTokens: 1000, grantedTokens: 1000, modality: 'audio' } as const;
  return { type: 'responseStarted', id, ...terms, ...changes };
}

export function done(id: string, isTold = true): UpstreamEvent {
  return { type: 'responseDone', id, isTold };
}

/** The world of the present test and its first two nodes: see `useCalls`. */
export let world: CallsWorld;
export let node: VoiceCalls;
/** Only with two nodes. */
export let other: VoiceCalls;

/** Gives each test of the file, or of the describe block, a world of its own with this many nodes. */
export function useCalls(nodes: 1 | 2 = 1): void {
  beforeEach(async () => {
    world = await CallsWorld.start();
    node = await world.addNode();
    if (nodes > 1) other = await world.addNode();
  });
}

/** Keeps what metering is told, in order. */
class HeardMetering implements Metering {
  readonly heard: unknown[] = [];
  readonly gaps: { readonly fromMs: number; readonly untilMs: number }[] = [];
  waitingSinceMs: number | undefined;

  hear(_call: unknown, event: unknown): void {
    this.heard.push(event);
  }

  readonly begun: string[] = [];

  begin({ callId }: MeteredCall): void {
    this.begun.push(callId);
  }

  gap(_call: unknown, fromMs: number, untilMs: number): void {
    this.gaps.push({ fromMs, untilMs });
  }

  uncounted(): UsageTotals {
    return { tokens: 0, microDollars: 0 };
  }

  report(): Promise<never> {
    return Promise.reject(new Error('no client reports here'));
  }

  /** Whether the database refuses what was heard. */
  isAway = false;

  flushCall(): Promise<void> {
    return this.flush();
  }

  /** Runs before each flush. */
  beforeFlush: () => void = () => undefined;

  flush(): Promise<void> {
    this.beforeFlush();
    return this.isAway ? Promise.reject(new Unavailable('database', 'away')) : Promise.resolve();
  }
}

/** Gives all calls the same bound. */
class FakeBudgets implements RemainingBudgets {
  bound: number | undefined;
  readonly watched = new Map<string, LimitResponses>();

  watch({ callId }: MeteredCall, limitResponses: LimitResponses): void {
    this.watched.set(callId, limitResponses);
  }

  release(callId: string): void {
    this.watched.delete(callId);
  }

  boundOf(): Promise<number | undefined> {
    return Promise.resolve(this.bound);
  }

  /** When the rest of the budget will be used up. */
  endMs = Infinity;

  endsAtMs(): number {
    return this.endMs;
  }

  /** Whether the rest of the budget pays for the responses that run. */
  affordable: (responses: readonly WorstCase[], uncounted: UsageTotals) => boolean = () => true;

  affords(_callId: string, responses: readonly WorstCase[], uncounted: UsageTotals): boolean {
    return this.affordable(responses, uncounted);
  }
}

/** Nodes on one database with one provider, and a clock that the test moves. */
export class CallsWorld {
  readonly clock = new ManualClock();
  readonly timers = new ManualTimers();
  readonly provider = new FakeBrokeredProvider();
  readonly metering = new HeardMetering();
  readonly budgets = new FakeBudgets();
  readonly faults: unknown[] = [];
  /** How long nodes waited each time a provider asked them to. */
  readonly paused: number[] = [];
  readonly logged: string[] = [];
  readonly metrics = new Metrics();
  readonly bus = createInProcessBus((error) => this.faults.push(error));
  /** What was said in calls, shared by all nodes. */
  recaps: Recaps = createInProcessRecaps();
  readonly database: TestDatabase;
  readonly stores: ReturnType<typeof createPostgresStores>;
  readonly sessions = new Map<string, VoiceRecord>();
  /** The times at which the session was told that its visitor spoke. */
  readonly spoken: number[] = [];
  readonly activity: number[] = [];
  readonly setups = new Map<string, SessionSetup>();
  /** The nodes that are running. */
  readonly nodes = new Set<VoiceCalls>();
  /** Tenants' secrets by `tenant/name`; `secretsRead` counts how often they were read. */
  readonly secrets = new Map<string, string>();
  secretsRead = 0;
  toolsPerSession = 50;
  /** Sessions with a resume token that nobody has used. */
  readonly tokens = new Set<string>();
  /** Runs while a node asks whether a session has such a token. */
  whileAsked: () => unknown = () => undefined;
  /** Runs before a node gives back the hold of a session that waits for its next page. */
  beforeRelease: () => unknown = () => undefined;
  /** The calls after which sessions wait whose holds were given back. */
  readonly released: string[] = [];
  /** Seals what back ends pass on to the servers of tools. */
  readonly contexts = createSealer([Buffer.alloc(32, 3)], 'test');
  unheardSec = 20;
  /** Whether the database is away each time a setup is read. */
  areSetupsAway = false;
  maxIdleSec = 3600;
  /** Runs before a call is saved, which waits for it. */
  beforeSave: (record: CallRecord) => unknown = () => undefined;
  /** Runs after a call is saved but before the save is answered; it may throw. */
  afterSave: (record: CallRecord) => void = () => undefined;
  /** What pages were shown, which of their tools were settled, and how their requests were answered. */
  readonly shown: CallFrame[] = [];
  readonly settled: string[] = [];
  readonly answers: (string | null)[] = [];
  /** When each call is due next, from what was saved last: before that the database need not be asked which are. */
  readonly #dueAtMs = new Map<string, number>();

  private constructor(database: TestDatabase) {
    this.database = database;
    this.stores = createPostgresStores(database);
    this.addSession(SESSION);
    this.bus.subscribe({
      'call.shown': ({ frames, settled }) => {
        this.shown.push(...frames);
        this.settled.push(...settled);
      },
      'call.answered': ({ code }) => this.answers.push(code),
    });
  }

  static async start(): Promise<CallsWorld> {
    return new CallsWorld(await TestDatabase.open());
  }

  addSession(id: string): void {
    const at = this.clock.now();
    this.sessions.set(id, openedRecord(brokeredTerms(id), at));
    this.setups.set(id, brokeredSetup(id, at));
  }

  /** Changes how the session was set up: before its call, as nodes read it then. */
  setUp(changes: Partial<SessionSetup>): void {
    const setup = this.setups.get(SESSION);
    if (setup !== undefined) this.setups.set(SESSION, { ...setup, ...changes });
  }

  /** Sets the session up with a page that has a data channel, or with one that has none, as the provider answers it. */
  setUpChannel(dataChannel: 'none' | 'open', changes: Partial<SessionSetup> = {}): void {
    this.setUp({ dataChannel, ...changes });
    this.provider.answerSdp = answerSdp(offerSdp({ channel: dataChannel === 'open' }));
  }

  /** Why the session ended; null while it has not. */
  get endReason(): VoiceRecord['endReason'] {
    return this.sessions.get(SESSION)?.endReason ?? null;
  }

  /** Ends the session. @param isTold false if the message to the nodes is lost */
  endSession(id = SESSION, endReason: VoiceRecord['endReason'] = 'closed_by_client', isTold = true): void {
    const record = this.sessions.get(id);
    if (record === undefined || record.endedAtMs !== null) return;
    this.sessions.set(id, { ...record, endedAtMs: this.clock.now(), endReason });
    if (isTold) this.bus.publish({ type: 'session.moved', sessionId: id, state: 'ended', endReason });
  }

  async addNode(provider = this.provider, ...others: readonly FakeBrokeredProvider[]): Promise<VoiceCalls> {
    const log = createLog('info', false, { write: (line) => this.logged.push(line) });
    const lease = new NodeLease({
      node: randomId(),
      calls: this.stores.liveNodes,
      sockets: { keepAlive: () => undefined },
      nodes: { noteLeases: () => undefined },
      clock: this.clock,
      onError: (error) => this.faults.push(error),
    });
    const events = createEvents(log, this.metrics);
    const onError = (error: unknown): unknown => this.faults.push(error);
    const node: VoiceCalls = new VoiceCalls({
      limits: { graceSec: 30, unheardSec: this.unheardSec },
      voiceLimits: { maxMinutes: 60, maxIdleSec: this.maxIdleSec, staleGraceSec: 7200, staleReapSec: 60 },
      createTimeoutMs: 8000,
      readyMs: 3000,
      perSession: 3,
      maxOpenResponses: 2,
      lease,
      provider,
      installationKey: Buffer.alloc(32),
      recaps: new SealedRecaps({
        store: this.recaps,
        installationKey: Buffer.alloc(32),
        clock: this.clock,
        keepMs: 3_600_000,
      }),
      others,
      store: {
        ...this.stores.calls,
        insert: async (record, most) => {
          this.#dueAtMs.set(record.id, nextDeadline(record));
          return this.stores.calls.insert(record, most);
        },
        save: async (record, version) => {
          await this.beforeSave(record);
          const isSaved = await this.save(record, version);
          this.afterSave(record);
          return isSaved;
        },
        due: async (owner, at, limit) => {
          const isAnyDue = this.database.isAway || Math.min(...this.#dueAtMs.values()) <= at;
          return isAnyDue ? this.stores.calls.due(owner, at, limit) : [];
        },
      },
      nodes: this.stores.liveNodes,
      setups: {
        find: (id) =>
          this.areSetupsAway
            ? Promise.reject(new Unavailable('database', 'away'))
            : Promise.resolve(this.setups.get(id)),
      },
      sessions: {
        find: (id) => this.sessions.get(id),
        lookUp: (ids) =>
          Promise.resolve({
            records: ids.flatMap((id) => this.sessions.get(id) ?? []),
            isWhole: true,
          }),
        noteActivity: (id, at) => this.#noteActivity(id, at),
        noteHeard: (id, _at, heardUntilMs) => this.change({ heardUntilMs }, id),
        noteSpoke: (id, at) => {
          this.spoken.push(at);
          this.change({ wordsDueAtMs: 0 }, id);
        },
        end: (id, reason) => this.endSession(id, reason),
      },
      resumeTokens: new ResumeTokens({
        store: { ...this.stores.resumeTokens, has: (id) => this.#hasToken(id) },
        heartbeatIntervalSec: 45,
      }),
      holds: {
        releaseWaiting: async (call) => {
          await this.beforeRelease();
          await this.stores.holds.releaseWaiting(call);
          this.released.push(call.id);
        },
      },
      metering: this.metering,
      budgets: this.budgets,
      bus: {
        publish: (message) => this.bus.publish(message),
        followed: { add: () => undefined, remove: () => undefined, isDirected: true, hears: () => true },
        // A dead node hears nothing.
        subscribe: (listen) =>
          this.bus.subscribe((message, isOwn) => {
            if (this.nodes.has(node)) listenerOf(listen)(message, isOwn);
          }),
      },
      serverTools: {
        sender: new ToolSender({ ...this.#outside(), clock: this.clock, events, onError }),
        store: this.stores.toolCalls,
        perSession: () => this.toolsPerSession,
      },
      clock: this.clock,
      events,
      onError,
      pause: (ms) => {
        this.paused.push(ms);
        return Promise.resolve();
      },
      random: () => 0,
      after: this.timers.after,
    });
    await node.renewLease();
    this.nodes.add(node);
    return node;
  }

  /** Saves a call, as a node does. */
  async save(record: CallRecord, version: number): Promise<boolean> {
    const isSaved = await this.stores.calls.save(record, version);
    if (isSaved) this.#dueAtMs.set(record.id, nextDeadline(record));
    return isSaved;
  }

  /** A page of the session is there, and has its resume token. */
  seen(id = SESSION): void {
    this.tokens.add(id);
    this.change({ lastSeenAtMs: this.clock.now() }, id);
  }

  /** Kills the node, with everything that it was doing. */
  kill(node: VoiceCalls): void {
    this.nodes.delete(node);
  }

  async ask(node: VoiceCalls, id = SESSION, signal = new AbortController().signal): Promise<OpenedCall | Refusal> {
    const [session, setup] = [this.sessions.get(id), this.setups.get(id)];
    if (session === undefined || setup === undefined) throw new Error('no such session');
    return node.open({ session, setup, offerSdp: 'v=0\r\n', requestId: 'req', signal });
  }

  async open(node: VoiceCalls, id = SESSION): Promise<CallRecord> {
    const opened = await this.ask(node, id);
    if (opened instanceof Refusal) throw new Error(`no call: ${opened.code}`);
    expect(opened.answerSdp).toBe(this.provider.answerSdp);
    return opened.record;
  }

  async refusal(asked: Promise<OpenedCall | Refusal>): Promise<string> {
    const answer = await asked;
    return answer instanceof Refusal ? answer.code : 'opened';
  }

  /** The session's newest call. */
  async call(id = SESSION): Promise<CallRecord> {
    const [newest] = await this.stores.calls.ofSession(id);
    if (newest === undefined) throw new Error('the session has no call');
    return newest;
  }

  /** The newest sideband. */
  get sideband(): FakeSideband {
    return this.provider.sideband;
  }

  /** The provider tells this over the newest sideband. */
  hear(...events: readonly UpstreamEvent[]): void {
    for (const event of events) this.sideband.hear(event);
  }

  /** What the newest sideband was asked, of one type. */
  askedFor<T extends FakeSideband['asked'][number]['type']>(type: T) {
    return this.sideband.asked.filter((each): each is Extract<typeof each, { readonly type: T }> => each.type === type);
  }

  /** The newest sideband breaks. @returns when */
  async lose(): Promise<number> {
    this.sideband.close();
    await Promise.resolve();
    for (const each of this.nodes) await each.settled();
    return this.clock.now();
  }

  /** A node whose sockets want what pages of the call are shown, or no longer. @param tools those that its pages were asked for */
  want(isOn = true, tools: readonly string[] = []): void {
    this.bus.publish({ type: 'call.wanted', sessionId: SESSION, node: 'of the sockets', isOn, tools });
  }

  /** A page asks for something. */
  request(frame: CallRequest, untilMs = this.clock.now() + 2000, sessionId = SESSION): void {
    this.bus.publish({ type: 'call.asked', sessionId, request: 'r', untilMs, frame });
  }

  /** Lets time pass for timers alone: by default until what pages are shown has been gathered. */
  gather(ms = 150): void {
    this.clock.advance(ms);
    this.timers.advance(ms);
  }

  /** Lets time pass, and runs the nodes' regular work as often as in the service. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.clock.advance(Math.min(STEP_MS, ms - passed));
      await this.look();
    }
  }

  async look(): Promise<void> {
    for (const node of this.nodes) {
      for (const work of [() => node.renewLease(), () => node.tick()]) await work().catch((e) => this.#note(e));
      await node.settled();
    }
  }

  async #hasToken(id: string): Promise<boolean> {
    await this.whileAsked();
    return this.tokens.has(id);
  }

  /** Every host name of a tool's server leads to this machine. */
  #outside() {
    const allowCidrs = new BlockList();
    allowCidrs.addSubnet('127.0.0.0', 8);
    const { clock, timers } = this;
    const read = (tenantId: string, name: string): Promise<string | undefined> => {
      this.secretsRead += 1;
      return Promise.resolve(this.secrets.get(`${tenantId}/${name}`));
    };
    const resolve = async () => ['127.0.0.1'];
    return {
      openContext: ({ sessionId, text }: { readonly sessionId: string; readonly text: string }): unknown =>
        JSON.parse(this.contexts.open(Buffer.from(text, 'base64'), sessionId)),
      outbound: createOutbound({ allowCidrs, allowPorts: [], clock, after: timers.after, resolve }),
      secrets: { signing: async (tenantId: string) => [(await read(tenantId, ':tools')) ?? SIGNING], read },
    };
  }

  #noteActivity(id: string, at: number): void {
    this.activity.push(at);
    this.change({ lastActivityAtMs: at }, id);
  }

  /** Changes the session as it is kept. */
  change(changes: Partial<VoiceRecord>, id = SESSION): void {
    const session = this.sessions.get(id);
    if (session !== undefined) this.sessions.set(id, { ...session, ...changes });
  }

  #note(error: unknown): void {
    if (!(error instanceof Unavailable)) throw error;
  }

  /** Faults other than a database that is away. */
  get wrongs(): unknown[] {
    return this.faults.filter((fault) => !(fault instanceof Unavailable));
  }
}
