import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import { Unavailable } from '../../../../src/kernel/errors.ts';
import type { Eventually } from '../../../../src/kernel/async.ts';
import type { BusMessage } from '../../../../src/protocol/bus.ts';
import type { LiveStores } from '../../../../src/stores/contract.ts';
import { createInProcessStores } from '../../../../src/stores/in-process.ts';
import type { SaveOutcome, VoiceHistory } from '../../../../src/stores/voice-history/contract.ts';
import { dueAt } from '../../../../src/sessions/deadlines.ts';
import { VoiceSessions } from '../../../../src/sessions/sessions.ts';
import { defaults } from '../../../machines/voice-session-support.ts';
import { ManualClock, SECOND } from '../../../support/clock.ts';

/** What a store refuses at the moment. */
type Refusal = 'nothing' | 'writes' | 'everything';

/** A history in memory that can be away. */
export class MemoryHistory implements Pick<VoiceHistory, 'insert' | 'find' | 'save' | 'active'> {
  /** The number of sessions in each look-up. */
  readonly lookedUp: number[] = [];
  readonly rows = new Map<string, VoiceRecord>();
  /** How many rows have been changed. */
  saved = 0;
  isAway = false;

  async insert({ record }: { readonly record: VoiceRecord }): Promise<void> {
    this.#ask().set(record.id, record);
  }

  async find(id: string): Promise<VoiceRecord | undefined> {
    return this.#ask().get(id);
  }

  async save(rows: readonly { readonly record: VoiceRecord }[]): Promise<SaveOutcome> {
    const ended: string[] = [];
    for (const { record } of rows) {
      const present = this.#ask().get(record.id);
      if (present === undefined || present.endedAtMs !== null) continue;
      if (record.endedAtMs !== null) ended.push(record.id);
      if (record.endedAtMs === null && record.version <= present.version) continue;
      this.rows.set(record.id, record);
      this.saved += 1;
    }
    return { ended };
  }

  async active(afterId: string): Promise<VoiceRecord[]> {
    return [...this.#ask().values()].filter(({ id, endedAtMs }) => endedAtMs === null && id > afterId);
  }

  async endedAmong(ids: readonly string[]): Promise<VoiceRecord[]> {
    this.lookedUp.push(ids.length);
    return [...this.#ask().values()].filter(({ id, endedAtMs }) => endedAtMs !== null && ids.includes(id));
  }

  async endedSince(sinceMs: number): Promise<VoiceRecord[]> {
    return [...this.#ask().values()].filter(({ endedAtMs }) => endedAtMs !== null && endedAtMs >= sinceMs);
  }

  #ask(): Map<string, VoiceRecord> {
    if (this.isAway) throw new Unavailable('database');
    return this.rows;
  }
}

/** A node whose live stores and history are in memory, and are away when the test says so. */
export class RecoveryNode {
  readonly clock: ManualClock;
  readonly history: MemoryHistory;
  /** The stores themselves, which work even while the node cannot reach them. */
  readonly stores: LiveStores;
  /** The stores as the node reaches them: they reject what they refuse. */
  readonly live: LiveStores;
  readonly sessions: VoiceSessions;
  /** What was published to all nodes. */
  readonly told: BusMessage[] = [];
  /** Silences of clients that were noted, in seconds. */
  readonly silences: unknown[] = [];
  refused: Refusal = 'nothing';

  /** @param before a node from which this one takes over history and clock, and nothing else */
  constructor(before?: Pick<RecoveryNode, 'clock' | 'history'>) {
    this.clock = before?.clock ?? new ManualClock();
    this.history = before?.history ?? new MemoryHistory();
    this.stores = createInProcessStores(dueAt(defaults), this.clock, () => undefined);
    const { registry, slots, bus } = this.stores;
    const reading = <T>(read: () => Eventually<T>): Eventually<T> => (this.refused === 'everything' ? away() : read());
    const writing = <T>(write: () => Eventually<T>): Eventually<T> => (this.refused === 'nothing' ? write() : away());
    this.live = {
      ...this.stores,
      registry: {
        ...registry,
        load: (id) => reading(() => registry.load(id)),
        save: (record, version, untilMs) => writing(() => registry.save(record, version, untilMs)),
        insert: (record) => writing(() => registry.insert(record)),
      },
      slots: {
        ...slots,
        renew: (subject, holder, untilMs) => writing(() => slots.renew(subject, holder, untilMs)),
        free: (subject, holder) => writing(() => slots.free(subject, holder)),
      },
      probe: async () => writing(() => undefined),
    };
    bus.subscribe((message) => this.told.push(message));
    this.sessions = new VoiceSessions({
      live: this.live,
      history: this.history as unknown as VoiceHistory,
      limits: defaults,
      events: { sessionOpened: () => undefined, sessionMoved: () => undefined },
      silence: { longerThanMs: 90 * SECOND, note: ({ detail }) => this.silences.push(detail['silentSec']) },
    });
  }

  /** Puts a session into all stores, with its slot. */
  async hold(record: VoiceRecord): Promise<void> {
    await this.history.insert({ record });
    await this.stores.registry.insert(record);
    await this.stores.slots.renew(record.subject, record.id, Infinity);
  }

  /** What the registry holds, how many slots are taken, and which ends were published. */
  seen({ id, subject }: VoiceRecord) {
    return {
      held: this.stores.registry.load(id) as VoiceRecord | undefined,
      slots: this.stores.slots.count(subject, this.clock.now()),
      told: this.told.flatMap((one) => (one.type === 'session.moved' && one.sessionId === id ? [one.endReason] : [])),
    };
  }
}

function away(): Promise<never> {
  return Promise.reject(new Unavailable('registry'));
}
