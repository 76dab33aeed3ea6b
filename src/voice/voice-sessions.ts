import { touch } from '../../machines/voice-session/fast-path.ts';
import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import { stateAfter, stateValue } from '../../machines/voice-session/selectors.ts';
import type {
  RequestedEnd,
  VoiceEvent,
  VoiceFact,
  VoiceLimits,
  VoiceRecord,
  VoiceTerms,
} from '../../machines/voice-session/types.ts';
import { createHost, type Outcome } from '../actors/host.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { createCatchUp } from './catch-up.ts';
import { CONFIRM_MS, forgottenAtMs, slotUntilMs } from './deadlines.ts';
import { HistoryWriter } from './history-writer.ts';
import { idsOfEither } from './ids-of-either.ts';
import { lookUp } from './look-up.ts';
import { createVoiceRecords } from './records.ts';
import { ifRegistryAway, RegistryDebts } from './registry-debts.ts';

/** Records that are looked at together after a loss. */
const PAGE = 1000;
const ENDED_AT_ONCE = 100;
/** Ends that are looked at after an outage; what a longer one leaves over is found by the next heartbeat or deadline. */
const BURIED = 10_000;

export interface VoiceParts {
  readonly registry: VoiceRegistry;
  readonly history: VoiceHistory;
  readonly slots: Slots;
  readonly bus: Pick<Bus, 'publish'>;
  readonly limits: VoiceLimits;
  readonly events: Events;
}

export type VoiceOutcome = Outcome<VoiceRecord, VoiceFact>;

/** The voice sessions of this service: every change of one goes through its actor here. */
export type VoiceSessions = ReturnType<typeof createVoiceSessions>;

export function createVoiceSessions(parts: VoiceParts) {
  const { registry, history, slots, bus, limits, events } = parts;
  const catchUp = createCatchUp({ registry, slots, limits, announceEnd });
  const debts = new RegistryDebts(catchUp, history);
  const writer = new HistoryWriter(history, limits, { ended: tellEnd, over: (record) => debts.add(record) });
  const records = createVoiceRecords({ registry, history, writer, debts, catchUp, limits });

  const host = createHost<VoiceRecord, VoiceEvent, VoiceFact>({
    machine: createVoiceSessionMachine(limits),
    store: records,
    stateOf: (record) => stateValue(record, limits),
    fastPath: (record, event) =>
      event.type === 'HEARTBEAT' ? touch(record, event.at, event.idleSec, limits) : undefined,
    settled,
    trace: events.transition,
  });

  /** Before the caller is answered a transition is in the history and its slot is free again. */
  async function settled(record: VoiceRecord, facts: readonly VoiceFact[]): Promise<void> {
    for (const fact of facts) if (fact.type !== 'session.ended') events.sessionMoved(record, fact);
    // What is known to be away is not waited for: the record is noted, and the next flush writes it.
    const writing = writer.isAway ? undefined : writer.saveOrWait(record);
    await Promise.all([writing, freeSlot(record)]);
    for (const fact of facts) announce(record.id, fact);
  }

  function announce(sessionId: string, fact: VoiceFact): void {
    const endReason = fact.type === 'session.ended' ? fact.reason : null;
    bus.publish({ type: 'session.moved', sessionId, state: stateAfter(fact), endReason });
  }

  function announceEnd({ id, endReason }: VoiceRecord): void {
    if (endReason !== null) announce(id, { type: 'session.ended', reason: endReason });
  }

  /** Told by the history, because it ends a session once, on however many nodes the events arrive. */
  function tellEnd(record: VoiceRecord): void {
    if (record.endReason !== null) events.sessionMoved(record, { type: 'session.ended', reason: record.endReason });
  }

  async function oweIfHeld(record: VoiceRecord): Promise<void> {
    const held = await registry.load(record.id);
    if (held?.endedAtMs === null) debts.add(record);
  }

  /** Frees the slot of a record that was saved, now or when the live stores are back. */
  async function freeSlot(record: VoiceRecord): Promise<void> {
    try {
      await slots.free(record.subject, record.id);
    } catch (fault) {
      ifRegistryAway(() => debts.add(record))(fault);
    }
  }

  /** An end that came before the session was in the history and its slot confirmed is made once more for both. */
  async function endAgain(record: VoiceRecord): Promise<VoiceRecord> {
    writer.note(record);
    await Promise.all([writer.saveOrWait(record), freeSlot(record)]);
    return record;
  }

  /**
   * Sees that the history has the ends and that their slots are free, whatever became of the nodes that made them, and drops what ended
   * a while ago: not before, so that nothing brings it back to life.
   * While the database is away they wait with the others that are to be written, and hold up no deadline.
   */
  async function confirmEnds(records: readonly VoiceRecord[], at: number): Promise<void> {
    const ended = records.filter(({ endedAtMs }) => endedAtMs !== null);
    const isWritten = !writer.isAway && (await writer.save(ended).then(() => true, falseWhenAway));
    if (!isWritten) for (const record of ended) writer.note(record);
    const nextLookMs = (record: VoiceRecord): number => (isWritten ? forgottenAtMs(record) : at + CONFIRM_MS);
    // All at once, so that they share script calls.
    await Promise.all(
      ended.map(async (record) => {
        await slots.free(record.subject, record.id);
        await (at >= nextLookMs(record)
          ? registry.remove(record.id)
          : registry.postpone(record.id, nextLookMs(record)));
      }),
    );
  }

  /** One that fails holds up no other; the first failure is thrown in the end. Some at a time, so that others are served meanwhile. */
  async function endAll(
    ids: readonly string[],
    reason: RequestedEnd,
    at: number,
    isMeant?: (record: VoiceRecord) => boolean,
  ): Promise<void> {
    const failures: unknown[] = [];
    for (let from = 0; from < ids.length; from += ENDED_AT_ONCE) {
      const some = ids.slice(from, from + ENDED_AT_ONCE);
      const ending = await Promise.allSettled(
        some.map(async (id) => host.send(id, { type: 'END', at, reason }, isMeant)),
      );
      failures.push(...ending.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Keys whose sessions are being ended. */
  const endingKeys = new Map<string, Promise<void>>();

  async function restoreOne(record: VoiceRecord): Promise<void> {
    // What came back from a snapshot may be older.
    if (!(await catchUp(record))) debts.add(record);
  }

  return {
    limits,

    /**
     * Opens a session that was just minted and whose slot was taken; it is in the registry and the history before this resolves.
     * @returns its record: one that has ended already when its key or quota was taken away while it was registered
     * @throws Unavailable also when the slots were lost since the slot was taken: then the session is ended again
     */
    async open(terms: VoiceTerms, at: number, requestId: string): Promise<VoiceRecord> {
      const record = host.open({ type: 'OPEN', at, terms });
      // First where the sweep finds it: should this process die now, the session ends by its clock like any other.
      await registry.insert(record);
      try {
        await history.insert({ record, state: 'engaged' });
        const [isCounted, present] = await Promise.all([
          slots.confirm(record.subject, record.id, slotUntilMs(record, limits)),
          registry.load(record.id),
        ]);
        if (present !== undefined && present.endedAtMs !== null) return await endAgain(present);
        if (!isCounted) throw new Unavailable('registry', 'the slots were lost while the session was opened');
      } catch (fault) {
        const undone = await host.send(record.id, { type: 'END', at: record.startedAtMs, reason: 'create_failed' });
        if (undone?.facts.length === 0) await endAgain(undone.record);
        throw fault;
      }
      events.sessionOpened(record, requestId);
      return record;
    },

    /** The present record; undefined when the id is unknown. */
    find(id: string): Eventually<VoiceRecord | undefined> {
      return records.load(id);
    },

    /** See `lookUp`. */
    lookUp: (ids: readonly string[]) => lookUp(ids, { registry, history }),

    /** A heartbeat from a caller that `admits` accepts; undefined when the session is unknown or not the caller's. */
    heartbeat(
      id: string,
      at: number,
      idleSec: number | undefined,
      admits: (record: VoiceRecord) => boolean,
    ): Eventually<VoiceOutcome | undefined> {
      return host.send(id, { type: 'HEARTBEAT', at, idleSec }, admits);
    },

    /** Activity that is no heartbeat: a usage report that names the session. */
    noteActivity(id: string, at: number): Eventually<VoiceOutcome | undefined> {
      return host.send(id, { type: 'ACTIVITY', at });
    },

    /** Ends a session for a caller that `admits` accepts; ending it again changes nothing. */
    end(
      id: string,
      reason: RequestedEnd,
      at: number,
      admits?: (record: VoiceRecord) => boolean,
    ): Eventually<VoiceOutcome | undefined> {
      return host.send(id, { type: 'END', at, reason }, admits);
    },

    /** Ends the live sessions of a subject that are meant. @throws Unavailable when the registry and the history are away */
    async endSubject(
      subject: string,
      reason: RequestedEnd,
      at: number,
      isMeant: (record: VoiceRecord) => boolean,
    ): Promise<void> {
      await endAll(await idsOfEither(registry.ofSubject(subject), history.activeOf(subject)), reason, at, isMeant);
    },

    /**
     * Ends all live sessions of a widget key. Who asks while that is under way waits for it: a key may have thousands, and each may ask.
     * @throws Unavailable when the registry and the history are away
     */
    endKey(tenantId: string, keyId: string, reason: RequestedEnd, at: number): Promise<void> {
      const name = `${reason} ${tenantId} ${keyId}`;
      const ids = () => idsOfEither(registry.ofKey(tenantId, keyId), history.activeOfKey(tenantId, keyId));
      const end = async () => endAll(await ids(), reason, at);
      const ending = endingKeys.get(name) ?? end().finally(() => endingKeys.delete(name));
      endingKeys.set(name, ending);
      return ending;
    },

    /**
     * Lets the clock close what is due and forgets what ended a while ago; @returns how many records were looked at.
     * A record that fails holds up no other; the first failure is thrown in the end, and its claim lapses.
     */
    async sweep(at: number, limit: number, leaseMs: number): Promise<number> {
      const due = await registry.claimDue(at, limit, leaseMs);
      const settling = await Promise.allSettled(due.map(async (id) => host.send(id, { type: 'CLOCK', at })));
      const outcomes = settling.flatMap((one) =>
        one.status === 'fulfilled' && one.value !== undefined ? [one.value] : [],
      );
      await confirmEnds(
        outcomes.filter(({ facts }) => facts.length === 0).map(({ record }) => record),
        at,
      );
      const failed = settling.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return due.length;
    },

    /**
     * Puts the sessions that the history knows as live back into a registry that lost them, slots included.
     * @param isLost names the subjects whose sessions were lost
     */
    async restore(isLost: (subject: string) => boolean = () => true): Promise<void> {
      let page = await history.active('', PAGE);
      while (page.length > 0) {
        await Promise.all(page.filter(({ subject }) => isLost(subject)).map(restoreOne));
        page = await history.active(page.at(-1)?.id ?? '', PAGE);
      }
    },

    /** To be told when the live stores were found to be away, or to take no writes. */
    doubtRegistry: () => records.doubtRegistry(),

    /** Tells the live stores what happened without them. @throws Unavailable when they are still away */
    payDebts: () => debts.pay(),

    /** Ends in the live stores what ended since then without them: the node that owes them the end may be gone. @throws Unavailable */
    async buryEndedSince(sinceMs: number): Promise<void> {
      const ended = await history.endedSince(sinceMs, BURIED);
      for (let from = 0; from < ended.length; from += PAGE)
        await Promise.all(ended.slice(from, from + PAGE).map(oweIfHeld));
      await debts.pay();
    },

    /** Writes what waits for the history. @throws Unavailable */
    flush: () => writer.flush(),
    /** Records that wait for the database. */
    waiting: () => writer.size,
    /** Records in the live registry. */
    size: () => registry.size(),
  };
}

function falseWhenAway(fault: unknown): false {
  if (fault instanceof Unavailable) return false;
  throw fault;
}
