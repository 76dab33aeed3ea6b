import { getHeapStatistics } from 'node:v8';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { Promised } from '../../kernel/async.ts';
import { Lru } from '../../kernel/collections.ts';
import type { Redis } from '../../redis/connection.ts';
import { allTags, tagOfSession, tagOfSubject } from '../../redis/tags.ts';
import type { DueAt, VoiceRegistry } from './contract.ts';
import { keyName } from './in-process.ts';

export interface RedisRegistryDeps {
  readonly redis: Pick<Redis, 'run'>;
  readonly dueAt: DueAt;
  /** Live records that no sweep reaches for this long expire, in milliseconds: longer than the time to any deadline. */
  readonly keepMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Ended records that nobody removes expire after this, in milliseconds. */
const KEEP_ENDED_MS = 600_000;
/** A record is forgotten when it was not used for one to two of these: clients send a heartbeat every 45 seconds. */
const REMEMBERED_MS = 150_000;
/** The memory of a record, strings included. */
const RECORD_BYTES = 1024;
const MIN_RECENT = 50_000;

/** How many records fit into a quarter of a heap. A beat of a session whose record is not remembered is counted, loaded and saved one by one. */
export function recentThatFit(heapBytes: number): number {
  return Math.max(MIN_RECENT, Math.floor(heapBytes / 4 / RECORD_BYTES));
}

/** The live registry that all nodes share; see `src/redis/lua/registry.ts` for what is kept where. */
export function createRedisVoiceRegistry(deps: RedisRegistryDeps): Promised<VoiceRegistry> {
  const { redis, dueAt, keepMs, now = () => performance.now() } = deps;
  const recent = new Lru<VoiceRecord>(recentThatFit(getHeapStatistics().heap_size_limit), { ms: REMEMBERED_MS, now });
  const [keep, keepEnded] = [String(keepMs), String(KEEP_ENDED_MS)];
  const ask = (name: string, id: string, args?: readonly string[]): Promise<unknown> =>
    redis.run(tagOfSession(id), name, id, args);

  /** Reads and remembers what Redis answered. */
  function read(id: string, [fixed, moving]: readonly (string | null)[]): VoiceRecord | undefined {
    if (typeof fixed !== 'string' || typeof moving !== 'string') {
      recent.delete(id);
      return undefined;
    }
    const record = readRecord(fixed, moving);
    recent.set(record.id, record);
    return record;
  }

  /** Whether this save leaves the due time of the version that it replaces, or moves it later: then the index need not be updated. */
  function isNoEarlier(id: string, expectedVersion: number, dueAtMs: number): boolean {
    const present = recent.get(id);
    return present?.version === expectedVersion && dueAt(present) <= dueAtMs;
  }

  return {
    recall: (id) => recent.get(id),

    async load(id) {
      return read(id, (await ask('load', id)) as (string | null)[]);
    },

    save(record, expectedVersion, slotUntilMs = 0) {
      const dueAtMs = dueAt(record);
      const change = `${expectedVersion} ${movingPart(record, dueText(dueAtMs), slotUntilMs)}`;
      const asking =
        record.endedAtMs === null
          ? ask(isNoEarlier(record.id, expectedVersion, dueAtMs) ? 'beat' : 'save', record.id, [change])
          : ask('finish', record.id, [change, keepEnded]);
      return asking.then((answer) => {
        if (answer === 1) recent.set(record.id, record);
        else read(record.id, answer === 0 ? [] : (answer as string[]));
        return answer === 1;
      });
    },

    saveCounted(record, expectedVersion, slotUntilMs = 0, request) {
      const dueAtMs = dueAt(record);
      if (!isNoEarlier(record.id, expectedVersion, dueAtMs)) return undefined;
      const change = `${expectedVersion} ${movingPart(record, dueText(dueAtMs), slotUntilMs)}`;
      return ask('counted', record.id, [request.key, String(request.limit), change]).then((answer) => {
        const taken = Math.abs(answer as number);
        const isSaved = answer !== taken;
        if (isSaved) recent.set(record.id, record);
        else if (taken <= request.limit) recent.delete(record.id);
        return { taken, isSaved };
      });
    },

    async mayBeOld(id) {
      return (await redis.run(tagOfSession(id), 'intact', 'whole')) !== 1;
    },

    async insert(record) {
      const due = dueText(dueAt(record));
      const key = record.keyId === null ? '' : keyName(record.tenantId, record.keyId);
      const isLive = record.endedAtMs === null;
      const args = [
        fixedPart(record),
        movingPart(record, due, 0),
        due,
        key,
        isLive ? '1' : '0',
        isLive ? keep : keepEnded,
      ];
      const isNew = (await ask('insert', record.id, args)) === 1;
      if (isNew) recent.set(record.id, record);
      return isNew;
    },

    async remove(id) {
      recent.delete(id);
      await ask('remove', id);
    },

    async claimDue(atMs, limit, leaseMs, share) {
      const tags = share === undefined ? allTags : allTags.filter(share);
      const ids = await claimDue(redis, [String(atMs), String(atMs + leaseMs), keep], limit, tags);
      // The claimer must act on the current record, not on a remembered one.
      for (const id of ids) recent.delete(id);
      return ids;
    },

    async postpone(id, untilMs) {
      await ask('postpone', id, [String(untilMs)]);
    },

    async ofSubject(subject) {
      return (await redis.run(tagOfSubject(subject), 'members', `subject:${subject}`)) as string[];
    },

    async ofKey(tenantId, keyId) {
      const name = `key:${keyName(tenantId, keyId)}`;
      const sets = await Promise.all(allTags.map((tag) => redis.run(tag, 'members', name)));
      return (sets as string[][]).flat();
    },

    async size() {
      const sizes = await Promise.all(allTags.map((tag) => redis.run(tag, 'size', 'due')));
      return (sizes as number[]).reduce((sum, size) => sum + size, 0);
    },
  };
}

/**
 * Claims what is due, over all tags or a share of them: first each tag tells how many may be due (mostly none: one small call), then as many are
 * claimed as were asked for. It begins at a random tag, so that nodes that sweep at once do not meet at the same one.
 */
async function claimDue(
  redis: Pick<Redis, 'run'>,
  [atMs, untilMs, keepMs]: readonly [string, string, string],
  limit: number,
  tags: readonly number[],
): Promise<string[]> {
  const counts = await Promise.all(limit > 0 ? tags.map((tag) => redis.run(tag, 'due', 'due', [atMs])) : []);
  const due = tags.map((tag, at) => ({ tag, count: counts[at] as number })).filter(({ count }) => count > 0);
  const begin = Math.floor(Math.random() * due.length);
  let waiting = [...due.slice(begin), ...due.slice(0, begin)];
  const claimed: string[] = [];
  while (waiting.length > 0 && claimed.length < limit) {
    const now: Promise<unknown>[] = [];
    let wanted = limit - claimed.length;
    for (const { tag, count } of waiting) {
      if (wanted === 0) break;
      const claimable = Math.min(count, wanted);
      wanted -= claimable;
      now.push(redis.run(tag, 'claim', 'due', [atMs, untilMs, String(claimable), keepMs]));
    }
    claimed.push(...((await Promise.all(now)) as string[][]).flat());
    waiting = waiting.slice(now.length);
  }
  return claimed;
}

/** The fields that events change. A field of the record that is added must be added here too, otherwise saves do not carry it. */
const moving = {
  version: undefined,
  lastSeenAtMs: undefined,
  lastActivityAtMs: undefined,
  heardUntilMs: undefined,
  wordsDueAtMs: undefined,
  settledAtMs: undefined,
  endedAtMs: undefined,
  endReason: undefined,
};

type MovingFields = Pick<VoiceRecord, keyof typeof moving>;

/** The part of a record that never changes, written once; nodes of other versions may add fields. */
export function fixedPart(record: VoiceRecord): string {
  return JSON.stringify({ ...record, ...moving });
}

/**
 * The small part that every heartbeat changes. Version, due time and the end of the slot's lease come first, because the script reads them. A session
 * without a slot has a lease of 0. Two more times may follow the lease, each after a slash: until when a call is heard, and when words are due.
 * Builds from before either of them stop reading at its slash.
 */
export function movingPart(record: MovingFields, dueAt: string, leaseUntilMs: number): string {
  const { version, lastSeenAtMs, lastActivityAtMs, heardUntilMs, wordsDueAtMs, settledAtMs, endedAtMs, endReason } =
    record;
  const due = wordsDueAtMs === 0 ? '' : `/${wordsDueAtMs}`;
  const lease = heardUntilMs === 0 && due === '' ? leaseUntilMs : `${leaseUntilMs}/${heardUntilMs}${due}`;
  const end = endedAtMs === null ? '' : ` ${endedAtMs} ${endReason ?? ''}`;
  // These times are close to each other, mostly equal: differences are shorter and cheaper to write.
  const times = `${lastSeenAtMs} ${lastActivityAtMs - lastSeenAtMs} ${settledAtMs - lastSeenAtMs}`;
  return `${version} ${dueAt} ${lease} ${times}${end}`;
}

/** Rebuilds a record from its two parts. */
export function readRecord(fixed: string, changing: string): VoiceRecord {
  const [version, , lease = '', seen, activity, settled, ended, reason] = changing.split(' ');
  const [, heardUntil = 0, wordsDueAt = 0] = lease.split('/');
  const rest = JSON.parse(fixed) as Omit<VoiceRecord, keyof MovingFields>;
  return {
    ...rest,
    lastSeenAtMs: Number(seen),
    lastActivityAtMs: Number(seen) + Number(activity),
    heardUntilMs: Number(heardUntil),
    wordsDueAtMs: Number(wordsDueAt),
    settledAtMs: Number(seen) + Number(settled),
    endedAtMs: ended === undefined ? null : Number(ended),
    endReason: reason === undefined || reason === '' ? null : (reason as VoiceRecord['endReason']),
    version: Number(version),
  };
}

/** A due time in the form that Redis sorts by. */
function dueText(dueAtMs: number): string {
  return dueAtMs === Infinity ? '+inf' : String(dueAtMs);
}
