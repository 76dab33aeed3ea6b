import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import { classify, idleAtMs, savedState, touch } from '../../machines/voice-session/selectors.ts';
import type {
  RequestedEnd,
  VoiceEvent,
  VoiceFact,
  VoiceLimits,
  VoiceRecord,
} from '../../machines/voice-session/types.ts';
import { createHost, type Outcome } from '../actors/host.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { HistoryWriter } from './history-writer.ts';
import { createVoiceRecords } from './records.ts';

/** A slot outlives the instant at which its session goes idle by this much: the sweep frees it before it lapses. */
const SLOT_GRACE_MS = 5000;

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
  const writer = new HistoryWriter(history, limits);
  const records = createVoiceRecords(registry, history, writer);

  const host = createHost<VoiceRecord, VoiceEvent, VoiceFact>({
    machine: createVoiceSessionMachine(limits),
    store: records,
    stateOf: (record) => savedState(record, limits),
    touch: (record, event) => (event.type === 'HEARTBEAT' ? touch(record, event.at, event.idleSec, limits) : undefined),
    settled,
  });

  /** Before the caller is answered a transition is in the history and its slot is free again. */
  async function settled(record: VoiceRecord, facts: readonly VoiceFact[]): Promise<void> {
    for (const fact of facts) events.sessionMoved(record, fact);
    await slots.free(record.subject, record.id);
    await writer.saveOrWait(record);
    const state = classify(record, record.settledAtMs, limits);
    bus.publish({ type: 'session.moved', sessionId: record.id, state, endReason: record.endReason });
  }

  /** Drops ended records from the registry once the history has their end, so that nothing brings them back to life. */
  async function forget(records: readonly VoiceRecord[]): Promise<void> {
    const ended = records.filter(({ endedAtMs }) => endedAtMs !== null);
    await history.save(ended.map((record) => ({ record, state: 'ended' })));
    for (const { id } of ended) await registry.remove(id);
  }

  function renewSlot(outcome: VoiceOutcome): Eventually<VoiceOutcome> {
    const { record, facts } = outcome;
    if (facts.length > 0 || record.endedAtMs !== null || classify(record, record.settledAtMs, limits) !== 'engaged')
      return outcome;
    const leaseUntilMs = idleAtMs(record, limits) + SLOT_GRACE_MS;
    return andThen(slots.renew(record.subject, record.id, leaseUntilMs), () => outcome);
  }

  return {
    limits,

    /** Registers a session that was just minted; it is in the history before this resolves. @throws Unavailable */
    async open(record: VoiceRecord, requestId: string): Promise<void> {
      await history.insert({ record, state: 'engaged' });
      await registry.insert(record);
      await slots.renew(record.subject, record.id, idleAtMs(record, limits) + SLOT_GRACE_MS);
      events.sessionOpened(record, requestId);
    },

    /** The present record; undefined when the id is unknown. */
    find(id: string): Eventually<VoiceRecord | undefined> {
      return records.load(id);
    },

    /** A heartbeat from a caller that `admits` accepts; undefined when the session is unknown or not the caller's. */
    heartbeat(
      id: string,
      at: number,
      idleSec: number | undefined,
      admits: (record: VoiceRecord) => boolean,
    ): Eventually<VoiceOutcome | undefined> {
      return andThen(host.send(id, { type: 'HEARTBEAT', at, idleSec }, admits), (outcome) =>
        outcome === undefined ? undefined : renewSlot(outcome),
      );
    },

    /** Activity that is no heartbeat: a usage report that names the session. */
    noteActivity(id: string, at: number): Eventually<VoiceOutcome | undefined> {
      return andThen(host.send(id, { type: 'ACTIVITY', at }), (outcome) =>
        outcome === undefined ? undefined : renewSlot(outcome),
      );
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

    /** Ends all live sessions of a subject. */
    async endSubject(subject: string, reason: RequestedEnd, at: number): Promise<void> {
      for (const id of await registry.ofSubject(subject)) await host.send(id, { type: 'END', at, reason });
    },

    /** Ends all live sessions of a widget key. */
    async endKey(tenantId: string, keyId: string, reason: RequestedEnd, at: number): Promise<void> {
      for (const id of await registry.ofKey(tenantId, keyId)) await host.send(id, { type: 'END', at, reason });
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
      await forget(outcomes.filter(({ facts }) => facts.length === 0).map(({ record }) => record));
      const failed = settling.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return due.length;
    },

    /** Puts the sessions that the history knows as live back into an empty registry, slots included. */
    async restore(at: number): Promise<number> {
      let restored = 0;
      let page = await history.active('', 1000);
      while (page.length > 0) {
        for (const record of page) {
          await registry.insert(record);
          const leaseUntilMs = idleAtMs(record, limits) + SLOT_GRACE_MS;
          if (classify(record, at, limits) === 'engaged') await slots.renew(record.subject, record.id, leaseUntilMs);
          restored += 1;
        }
        page = await history.active(page.at(-1)?.id ?? '', 1000);
      }
      return restored;
    },

    /** Writes what waits for the history. @throws Unavailable */
    flush: () => writer.flush(),
    /** Records that wait for the database. */
    waiting: () => writer.size,
    /** Records in the live registry. */
    size: () => registry.size(),
  };
}
