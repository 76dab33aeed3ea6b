import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import {
  fastPath,
  movesOn,
  openedRecord,
  slotUntilMs,
  stateAfter,
  stateValue,
  toldLimits,
} from '../../machines/voice-session/selectors.ts';
import type {
  RequestedEnd,
  VoiceEvent,
  VoiceFact,
  VoiceLimits,
  VoiceRecord,
  VoiceTerms,
} from '../../machines/voice-session/types.ts';
import { createHost, type Outcome } from '../actors/host.ts';
import type { Trace } from '../actors/trace.ts';
import type { Subjects } from '../auth/subjects.ts';
import { Unavailable } from '../kernel/errors.ts';
import { type Eventually, settleAll, SingleFlight } from '../kernel/async.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { HistoryRow, OpenedSession, VoiceHistory } from '../stores/voice-history/contract.ts';
import type { UncountedRequest } from '../stores/windows/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { HeartbeatBuffer } from './heartbeat-buffer.ts';
import { HistoryWriter, type HistoryListener } from './history-writer.ts';
import { findSessions, idsOfEither, withLiveTimes, type FoundSessions } from './find-sessions.ts';
import { VoiceRecords, type NoteSilences } from './records.ts';
import { Outage } from './recovery/outage.ts';
import { confirm, PendingWrites } from './recovery/pending-writes.ts';
import type { SweepDeps } from './recovery/sweep.ts';

const ENDED_AT_ONCE = 100;

export interface VoiceDeps {
  readonly live: Pick<LiveStores, 'registry' | 'slots' | 'bus' | 'clock' | 'probe' | 'onLost' | 'restoreWhatIsLost'>;
  readonly history: VoiceHistory;
  readonly limits: VoiceLimits;
  readonly events: Pick<Events, 'sessionOpened' | 'sessionMoved'>;
  readonly trace?: Trace<VoiceRecord> | undefined;
  readonly silence?: NoteSilences | undefined;
}

/**
 * Whether an e-mail address proves the session's subject. A session for which nobody is named needs no proof (docs/contract.md, section 5.6), and
 * neither does a back end with a service token. An address that is not the session's is always refused.
 */
export function speaksFor(
  record: VoiceRecord,
  address: string | undefined,
  subjects: Subjects,
  isService = false,
): boolean {
  if (!record.named) return true;
  if (address === undefined) return isService;
  const subject =
    record.caller === 'console' ? subjects.console(address) : subjects.widgetUser(record.tenantId, address);
  return subjects.equal(subject, record.subject);
}

/** For callers that have already proved whom they speak for. */
export const everySession = (): boolean => true;

const needsNoProof = (record: VoiceRecord): boolean => !record.named;

/** A predicate that says for which sessions `speaksFor` is true. Nearly all requests have no address and no service token: they need no closure. */
export function spokenForBy(address: string | undefined, subjects: Subjects, isService: boolean): Admits {
  if (address === undefined && !isService) return needsNoProof;
  return (record) => speaksFor(record, address, subjects, isService);
}

/** What goes into the history with a record, and for a new visitor how soon the first words are due. */
type OpeningTerms = Pick<OpenedSession, 'setup' | 'ticket'> & { readonly wordsWithinSec?: number | undefined };

export type VoiceOutcome = Outcome<VoiceRecord, VoiceFact>;
/** A heartbeat whose request was counted in the same step: how many requests its window has, this one included; and the record, if it was saved. */
export interface CountedHeartbeat {
  readonly taken: number;
  readonly record: VoiceRecord | undefined;
}

type Answer = Eventually<VoiceOutcome | undefined>;
type Admits = (record: VoiceRecord) => boolean;

/** The voice sessions of this service: every change of one goes through its actor here. */
export class VoiceSessions {
  readonly limits: VoiceLimits;
  /** What background work uses: the sweep, restoring, and what waits for a store. */
  readonly recovery: SweepDeps;
  /** Undefined where no beat waits, because this process shares its sessions with no other. */
  readonly beats: HeartbeatBuffer | undefined;
  readonly #deps: VoiceDeps;
  readonly #records: VoiceRecords;
  /** Work that ends the sessions of a key or a tenant, while it is under way. */
  readonly #ending = new SingleFlight();

  constructor(deps: VoiceDeps) {
    const { live, history, limits, events, trace, silence } = deps;
    const outage = new Outage(performance.now());
    live.onLost(() => outage.send({ type: 'CONNECTION_LOST', at: performance.now() }));
    const pendingWrites = new PendingWrites({ live, history, limits });
    const listener: HistoryListener = {
      // The history says so, because it ends a session once, however many nodes receive the events.
      ended(record) {
        if (record.endReason !== null) events.sessionMoved(record, { type: 'session.ended', reason: record.endReason });
      },
      endedBefore: (record) => pendingWrites.add(record),
    };
    const writer = new HistoryWriter(history, limits, listener);
    const { registry, clock, bus } = live;
    const parts = { registry, bus, history, writer, outage, pendingWrites, limits, clock, silence };
    const records = new VoiceRecords(parts);
    const { beats } = records;
    const host = createHost<VoiceRecord, VoiceEvent, VoiceFact>({
      machine: createVoiceSessionMachine(limits),
      store: records,
      stateOf: (record) => stateValue(record, limits),
      fastPath: (record, event) => fastPath(record, event, limits),
      tellsMore: movesOn,
      fastOpen: (event) =>
        event.type === 'OPEN' ? openedRecord(event.terms, event.at, event.wordsWithinSec) : undefined,
      save:
        beats &&
        ((record, version, event) =>
          event.type === 'HEARTBEAT' && record.endedAtMs === null && beats.take(record, version) ? true : undefined),
      settled: (record, facts) => this.#settled(record, facts),
      trace,
    });
    this.limits = limits;
    this.beats = beats;
    this.recovery = { live, history, outage, pendingWrites, limits, host, writer };
    this.#deps = deps;
    this.#records = records;
  }

  /**
   * Opens a session that was just minted and whose slot was taken; it is in the registry and the history before this resolves.
   * @returns its record: one that has ended already if its key or quota was taken away while it was registered
   * @throws Unavailable also when the slots were lost since the slot was taken: then the session is ended again
   */
  async open(terms: VoiceTerms, opening: OpeningTerms, at: number, requestId: string): Promise<VoiceRecord> {
    const { live, history, events } = this.#deps;
    const { wordsWithinSec, ...kept } = opening;
    const record = this.recovery.host.open({ type: 'OPEN', at, terms, requestId, wordsWithinSec });
    // The registry first, where the sweep finds it: if this process dies now, the session ends by its clock like any other.
    await live.registry.insert(record);
    try {
      await history.insert({ record, state: 'engaged', limits: toldLimits(record, this.limits), ...kept });
      const [isCounted, present] = await Promise.all([
        live.slots.confirm(record.subject, record.id, slotUntilMs(record, this.limits) ?? record.startedAtMs),
        live.registry.load(record.id),
      ]);
      if (present !== undefined && present.endedAtMs !== null) {
        // The end came before the session was in the history and its slot confirmed, so both are told again.
        await confirm(present, this.recovery);
        return present;
      }
      if (!isCounted) throw new Unavailable('registry', 'the slots were lost while the session was opened');
    } catch (fault) {
      const undone = await this.end(record.id, 'create_failed', record.startedAtMs, requestId);
      if (undone?.facts.length === 0) await confirm(undone.record, this.recovery);
      throw fault;
    }
    events.sessionOpened(record, requestId);
    return record;
  }

  /** The current record; undefined when the id is unknown. */
  find(id: string): Eventually<VoiceRecord | undefined> {
    return this.#records.load(id);
  }

  /** The current records of many sessions; see `findSessions`. */
  lookUp(ids: readonly string[]): Promise<FoundSessions> {
    return findSessions(ids, this.#deps.live.registry, this.#deps.history);
  }

  /** Rows of the history as they are now; see `withLiveTimes`. */
  present(rows: readonly HistoryRow[]): Promise<HistoryRow[]> {
    return withLiveTimes(rows, this.#deps.live.registry);
  }

  /** A heartbeat from a caller that `admits` accepts; undefined when the session is unknown or not the caller's. */
  heartbeat(id: string, at: number, idleSec: number | undefined, admits: Admits, requestId?: string): Answer {
    return this.recovery.host.send(id, { type: 'HEARTBEAT', at, idleSec, requestId }, admits);
  }

  /**
   * Like `heartbeat`, but counts its request in the same step of the stores: for a heartbeat that moves no state, of a session that this node
   * remembers. Undefined where it must be counted first; resolves to undefined where the registry is away.
   */
  countedHeartbeat(
    id: string,
    at: number,
    idleSec: number | undefined,
    admits: Admits,
    request: UncountedRequest,
  ): Promise<CountedHeartbeat | undefined> | undefined {
    return this.recovery.host.sendWith(id, { type: 'HEARTBEAT', at, idleSec }, admits, (record, expectedVersion) =>
      this.#records
        .saveCounted(record, expectedVersion, request)
        ?.then((saved) => saved && { taken: saved.taken, record: saved.isSaved ? record : undefined }),
    );
  }

  /** Activity other than a heartbeat: a usage report that names the session. */
  noteActivity(id: string, at: number, requestId?: string): Answer {
    return this.recovery.host.send(id, { type: 'ACTIVITY', at, requestId });
  }

  /** A call of the session is heard, until `untilMs` at least; `untilMs` equal to `at` says that the call is over. */
  noteHeard(id: string, at: number, untilMs: number): Answer {
    return this.recovery.host.send(id, { type: 'HEARD', at, untilMs });
  }

  /** The visitor spoke at `at`: if first words were due, the session now lasts as long as any other, and its sockets are told. */
  async noteSpoke(id: string, at: number): Promise<void> {
    const outcome = await this.recovery.host.send(id, { type: 'SPOKE', at });
    if (outcome?.record.wordsDueAtMs === 0) this.#deps.live.bus.publish({ type: 'session.spoke', sessionId: id });
  }

  /** Ends a session for a caller that `admits` accepts; ending it again changes nothing. */
  end(id: string, reason: RequestedEnd, at: number, requestId?: string, admits?: Admits): Answer {
    return this.recovery.host.send(id, { type: 'END', at, reason, requestId }, admits);
  }

  /**
   * Like `end`, for a caller who is told that it is done: what no durable store has is not acknowledged (docs/architecture.md, section 4).
   * @throws Unavailable while the history does not take the end; the session is over even so, and ending it again tells whether the end is kept
   */
  async endForGood(
    id: string,
    reason: RequestedEnd,
    at: number,
    requestId?: string,
    admits?: Admits,
  ): Promise<VoiceOutcome | undefined> {
    const outcome = await this.end(id, reason, at, requestId, admits);
    if (outcome === undefined) return undefined;
    // An earlier end may be waiting here or on another node, or have been waiting on one that died.
    const isKept =
      outcome.facts.length > 0 ? !this.recovery.writer.waiting.has(id) : await confirm(outcome.record, this.recovery);
    if (!isKept) throw new Unavailable('database', new Error('the end of a session is not kept yet'));
    return outcome;
  }

  /** Ends the subject's live sessions that `isMeant` accepts. @throws Unavailable when the registry and the history are both away */
  endSubject(subject: string, reason: RequestedEnd, at: number, isMeant: Admits, requestId?: string): Promise<void> {
    const { live, history } = this.#deps;
    const ids = idsOfEither(live.registry.ofSubject(subject), history.activeOf(subject));
    return this.#endAll(ids, (id) => this.end(id, reason, at, requestId, isMeant));
  }

  /**
   * Ends all live sessions of a widget key. Calls made while that is under way wait for it: a key may have thousands of sessions, each asking.
   * @throws Unavailable when the registry and the history are both away
   */
  endKey(tenantId: string, keyId: string, reason: RequestedEnd, at: number, requestId?: string): Promise<void> {
    const { live, history } = this.#deps;
    const ids = () => idsOfEither(live.registry.ofKey(tenantId, keyId), history.activeOfKey(tenantId, keyId));
    return this.#endOnce(`${reason} ${tenantId} ${keyId}`, ids, (id) => this.end(id, reason, at, requestId));
  }

  /** Ends all live sessions of a tenant's widget keys. @throws Unavailable when the history is away */
  endTenant(tenantId: string, reason: RequestedEnd, at: number, requestId?: string): Promise<void> {
    const ids = async () => (await this.#deps.history.activeOfTenant(tenantId, 'widget')).map(({ id }) => id);
    return this.#endOnce(`${reason} ${tenantId}`, ids, (id) => this.end(id, reason, at, requestId));
  }

  /** Ends all live sessions of a tenant, those of its console users included. @throws Unavailable when the history is away */
  stopTenant(tenantId: string, at: number): Promise<void> {
    const ids = async () => (await this.#deps.history.activeOfTenant(tenantId)).map(({ id }) => id);
    return this.#endOnce(`stop ${tenantId}`, ids, (id) => this.end(id, 'closed_by_operator', at));
  }

  #endOnce(name: string, ids: () => Promise<readonly string[]>, end: (id: string) => Answer): Promise<void> {
    return this.#ending.run(name, () => this.#endAll(ids(), end));
  }

  /** Some at a time, so that others are served meanwhile. */
  async #endAll(ids: Promise<readonly string[]>, end: (id: string) => Answer): Promise<void> {
    await settleAll(await ids, end, ENDED_AT_ONCE);
  }

  /** Before the caller is answered, the transition is in the history and the slot of an ended session is free, as far as these stores are up. */
  async #settled(record: VoiceRecord, facts: readonly VoiceFact[]): Promise<void> {
    const { live, events } = this.#deps;
    for (const fact of facts) if (fact.type !== 'session.ended') events.sessionMoved(record, fact);
    await confirm(record, this.recovery);
    for (const fact of facts) {
      const endReason = fact.type === 'session.ended' ? fact.reason : null;
      live.bus.publish({ type: 'session.moved', sessionId: record.id, state: stateAfter(fact), endReason });
    }
  }
}
