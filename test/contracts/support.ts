import { afterAll, beforeAll } from 'vitest';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Database } from '../../src/database/database.ts';
import { randomId } from '../../src/kernel/ids.ts';

/** Two nodes' views of the same data; an in-process engine serves as both. */
export interface Nodes<T> {
  readonly nodes: readonly [T, T];
  close(): Promise<void>;
}

export type Make<T> = () => Promise<Nodes<T>>;

/** Makes the nodes before a suite's tests and closes them afterwards. @returns a function that gives the two nodes in turn */
export function nodesOf<T>(make: Make<T>): () => T {
  let made: Nodes<T> | undefined;
  let turn = 0;
  beforeAll(async () => {
    made = await make();
  });
  afterAll(async () => {
    await made?.close();
  });
  return () => {
    if (made === undefined) throw new Error('nodes are there in tests only');
    turn = 1 - turn;
    return made.nodes[turn] as T;
  };
}

/** The stores of two nodes on one migrated database. */
export function storesOf<T>(nodes: () => readonly [Database, Database], create: (database: Database) => T): Make<T> {
  return () => {
    const [one, other] = nodes();
    return Promise.resolve({ nodes: [create(one), create(other)], close: () => Promise.resolve() });
  };
}

/** Runs `work` this many times concurrently. */
export function atOnce<T>(times: number, work: (index: number) => T): Promise<Awaited<T>[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(index)));
}

export const RACERS = 64;

/** Any time would do, since no store looks at a clock. This one starts a minute, an hour and a day. */
export const DAY_BEGIN = Date.UTC(2030, 0, 1);

/** A new session of a new subject. */
export function voiceRecord(changes: Partial<VoiceRecord> = {}): VoiceRecord {
  const subject = changes.subject ?? randomId();
  return {
    id: `s:${subject}:${randomId()}`,
    subject,
    caller: 'widget',
    tenantId: 'acme',
    agentId: 'support',
    keyId: 'acme-site',
    named: false,
    loginId: null,
    provider: 'local',
    upstreamId: 'up_1',
    isHeard: false,
    startedAtMs: DAY_BEGIN,
    lastSeenAtMs: DAY_BEGIN,
    lastActivityAtMs: DAY_BEGIN,
    heardUntilMs: DAY_BEGIN + 1,
    // Later than the session's end in any case.
    wordsDueAtMs: DAY_BEGIN + 86_400_000,
    settledAtMs: DAY_BEGIN,
    endedAtMs: null,
    endReason: null,
    version: 1,
    ...changes,
  };
}

/** The next version of a session, in which it has ended. */
export function endedRecord(record: VoiceRecord, changes: Partial<VoiceRecord> = {}): VoiceRecord {
  return {
    ...record,
    endedAtMs: DAY_BEGIN + 5_000,
    endReason: 'closed_by_client',
    version: record.version + 1,
    ...changes,
  };
}
