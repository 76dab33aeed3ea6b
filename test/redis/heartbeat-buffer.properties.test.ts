import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { laterOf } from '../../machines/voice-session/merge.ts';
import { savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceEvent, VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Redis } from '../../src/redis/connection.ts';
import { activity, clock, end, heartbeat, opened, play, SECOND } from '../machines/voice-session-support.ts';
import { NOON } from '../support/clock.ts';
import { examples } from '../support/examples.ts';
import { reasonToSkipRedis, type RedisService } from '../support/services/redis.ts';
import { Installation, SocketNode, useRedisOfTwo } from './socket-nodes.ts';

const skipped = reasonToSkipRedis();

/** Small limits, so that deadlines are reached, but large enough for heartbeats to be buffered. */
const limits: VoiceLimits = { maxMinutes: 2, maxIdleSec: 20, staleGraceSec: 30, staleReapSec: 10 };

type Place = 0 | 1;
type Step =
  | {
      readonly do: 'beat' | 'activity' | 'end' | 'sweep' | 'attach' | 'detach' | 'crash' | 'flush';
      readonly on: Place;
      readonly idleSec?: number;
    }
  | { readonly do: 'bus'; readonly on: Place; readonly way: 'cut' | 'deaf' }
  | { readonly do: 'away' | 'heal'; readonly on: Place }
  | { readonly do: 'lose' }
  | { readonly do: 'pass' | 'stall'; readonly ms: number };

const on = fc.constantFrom<Place>(0, 1);
const idleSec = fc.option(fc.integer({ min: 0, max: 25 }), { nil: undefined });
const act = (
  kind: 'beat' | 'activity' | 'end' | 'sweep' | 'attach' | 'detach' | 'crash' | 'flush',
  weight: number,
) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(kind), on, idleSec }) as fc.Arbitrary<Step>,
});
const calm = [
  act('beat', 12),
  act('activity', 2),
  act('end', 1),
  act('sweep', 4),
  act('attach', 3),
  act('detach', 1),
  act('flush', 1),
  // Up to just before a deadline.
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.integer({ min: 17 * SECOND, max: 21 * SECOND }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 22 * SECOND }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 400 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('stall' as const), ms: fc.integer({ min: 1, max: 4 * SECOND }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('bus' as const),
      on,
      way: fc.constantFrom('cut' as const, 'deaf' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('heal' as const), on }) },
];
const killing = [...calm, act('crash', 1)];
const rough = [
  ...killing,
  { weight: 1, arbitrary: fc.record({ do: fc.constant('away' as const), on }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
];

/** Two nodes, and for comparison the machine alone, which gets every event that they acknowledged. */
class Trial {
  readonly #all = new Installation(limits);
  readonly #nodes: [SocketNode, SocketNode];
  readonly #first: VoiceRecord;
  readonly #service: RedisService;
  /** The acknowledged events in order, each with its node while no store has it yet. */
  readonly #log: { readonly event: VoiceEvent; unsavedOn: SocketNode | undefined }[] = [];
  readonly id: string;
  /** How many heartbeats were answered before they were saved. */
  waited = 0;
  /** Whether a node was killed before it could tell Redis what it had answered while Redis was away. */
  #hasDiedWithoutRedis = false;
  /** False once a session may get the benefit of the doubt because a node could ask only PostgreSQL (`sessions/history-writer.ts`). */
  isExact = true;

  constructor(service: RedisService, redis: readonly [Redis, Redis]) {
    this.#service = service;
    this.#nodes = [new SocketNode(this.#all, redis[0]), new SocketNode(this.#all, redis[1])];
    this.#first = { ...opened(NOON), subject: '0'.repeat(32) };
    this.id = this.#first.id;
  }

  get #now(): number {
    return this.#all.clock.now();
  }

  /** The record that the machine makes of all acknowledged events. */
  get expected(): VoiceRecord {
    return play(
      this.#first,
      limits,
      this.#log.map(({ event }) => event),
    ).record;
  }

  async begin(): Promise<void> {
    await this.#service.flush();
    await this.#nodes[0].restore();
    await this.#nodes[0].open(this.#first);
    for (const node of this.#nodes) node.attached.add(this.id);
  }

  async run(step: Step): Promise<void> {
    if ('ms' in step) return step.do === 'pass' ? this.#noteSaved(this.#all.pass(step.ms)) : this.#stall(step.ms);
    if (step.do === 'lose' || step.do === 'away') this.isExact = false;
    if (step.do === 'lose') return this.#lose();
    const node = this.#nodes[step.on];
    switch (step.do) {
      case 'beat':
        return this.#send(node, heartbeat(this.#now, step.idleSec));
      case 'activity':
        return this.#send(node, activity(this.#now));
      case 'end':
        return this.#send(node, end(this.#now));
      case 'sweep':
        return this.#noteSaved(this.#sweep(node));
      case 'flush':
        return this.#noteSaved(node.sessions.beats?.flush());
      case 'attach':
        return void node.attached.add(this.id);
      case 'detach':
        return void node.attached.delete(this.id);
      case 'bus':
        return void (node.bus = step.way);
      case 'away':
        return void (node.isRedisAway = true);
      case 'heal':
        return this.#noteSaved(node.heal());
      case 'crash':
        return this.#crash(step.on);
    }
  }

  async finish(): Promise<VoiceRecord | undefined> {
    for (let round = 0; round < 2; round += 1) for (const node of this.#nodes) await node.heal();
    const record = await this.#nodes[0].registry.load(this.id);
    const kept = this.#all.history.rows.get(this.id);
    if (record === undefined || kept === undefined) return record ?? kept;
    // Only PostgreSQL has what a node answered that died without Redis. It is asked before a deadline counts (`VoiceRecords.load`).
    if (this.#hasDiedWithoutRedis) return laterOf(kept, record);
    expect(kept.endReason).toBe(record.endReason);
    return record;
  }

  async #send(node: SocketNode, event: VoiceEvent): Promise<void> {
    // An end acts on the stored record, without heartbeats that another node answered less than half a second ago.
    if (event.type === 'END') this.#loseUnsaved((by) => by !== node);
    const outcome = await node.send(event, this.id);
    const waits = node.sessions.beats?.recall(this.id) !== undefined;
    this.#log.push({ event, unsavedOn: waits ? node : undefined });
    if (waits) this.waited += 1;
    await this.#noteSaved(undefined);
    const answered = outcome?.record;
    expect(answered).toBeDefined();
    if (node.bus === 'cut' || !node.attached.has(this.id)) expect(waits).toBe(false);
    // Where a message was lost, a heartbeat may still be answered for a session that has just ended; the next save finds out.
    const mayBeStale = waits && this.#nodes.some(({ bus }) => bus !== 'there');
    const { endReason, lastSeenAtMs } = this.expected;
    if (!this.isExact) return;
    if (!mayBeStale) expect(answered?.endReason).toBe(endReason);
    if (endReason === null && event.type === 'HEARTBEAT') expect(answered?.lastSeenAtMs).toBe(lastSeenAtMs);
  }

  async #sweep(node: SocketNode): Promise<void> {
    await node.sweep();
    if (node.isRedisAway) return;
    this.#log.push({ event: clock(this.#now), unsavedOn: undefined });
    // The session is idle or over exactly when the machine says so.
    if (!this.isExact) return;
    const record = await node.registry.load(this.id);
    if (record !== undefined) expect(savedState(record, limits)).toBe(savedState(this.expected, limits));
  }

  /** Time in which nothing is saved, as long as a hanging flush may take, while nodes sweep. */
  async #stall(ms: number): Promise<void> {
    this.#all.clock.advance(ms);
    for (const node of this.#nodes) await this.#sweep(node);
    await this.#noteSaved(this.#all.pass(1));
  }

  async #crash(at: Place): Promise<void> {
    const gone = this.#nodes[at];
    // Losing Redis in the same second would be a second fault (docs/operations.md).
    await gone.sessions.recovery.writer.flush();
    this.#hasDiedWithoutRedis ||= gone.sessions.recovery.pendingWrites.waiting.size > 0;
    this.#nodes[at] = gone.crash();
    this.#loseUnsaved((by) => by === gone);
  }

  #loseUnsaved(isLost: (by: SocketNode) => boolean): void {
    for (let n = this.#log.length - 1; n >= 0; n -= 1) {
      const by = this.#log[n]?.unsavedOn;
      if (by !== undefined && isLost(by)) this.#log.splice(n, 1);
    }
  }

  async #lose(): Promise<void> {
    for (const node of this.#nodes) {
      await node.heal();
      node.sessions.recovery.outage.send({ type: 'CONNECTION_LOST', at: performance.now() });
    }
    await this.#service.flush();
    for (const node of this.#nodes) await node.restore();
    for (const node of this.#nodes) await node.heal();
    await this.#noteSaved(undefined);
  }

  /** Marks events as saved that are no longer in any buffer. */
  async #noteSaved(work: Promise<void> | void | undefined): Promise<void> {
    await work;
    for (const entry of this.#log)
      if (entry.unsavedOn?.sessions.beats?.recall(this.id) === undefined) entry.unsavedOn = undefined;
  }
}

describe.skipIf(skipped !== undefined)(`Heartbeats of sockets that wait ${skipped ?? ''}`, () => {
  const { service, ways } = useRedisOfTwo();
  /** How many heartbeats waited in all examples; if none did, the test has shown nothing. */
  let waited = 0;

  async function leads(
    steps: readonly Step[],
  ): Promise<readonly [record: VoiceRecord | undefined, expected: VoiceRecord]> {
    const trial = new Trial(service(), ways());
    await trial.begin();
    for (const step of steps) await trial.run(step);
    waited += trial.waited;
    return [await trial.finish(), trial.expected];
  }

  test('lead to the same record as the machine alone, whichever nodes serve a session and whatever they hear of each other', async () => {
    const holds = fc.asyncProperty(fc.array(fc.oneof(...calm), { maxLength: 30 }), async (steps) => {
      const [record, expected] = await leads(steps);
      expect({ ...record, version: 0 }).toEqual({ ...expected, version: 0 });
    });
    await fc.assert(holds, examples(150));
    expect(waited).toBeGreaterThan(0);
  });

  test('lose nothing that was saved when nodes are killed', async () => {
    const holds = fc.asyncProperty(fc.array(fc.oneof(...killing), { maxLength: 30 }), async (steps) => {
      const [record, expected] = await leads(steps);
      expect({ ...record, version: 0 }).toEqual({ ...expected, version: 0 });
    });
    await fc.assert(holds, examples(150));
  });

  test('end no session early and lose no end, even when one node has no Redis or Redis comes back empty', async () => {
    const holds = fc.asyncProperty(fc.array(fc.oneof(...rough), { maxLength: 30 }), async (steps) => {
      const [record, expected] = await leads(steps);
      expect(expected.endReason === 'closed_by_client' && record?.endedAtMs === null).toBe(false);
      if (savedState(expected, limits) !== 'engaged') return;
      expect(record?.endReason).toBeNull();
      expect(record?.lastActivityAtMs).toBeGreaterThanOrEqual(expected.lastActivityAtMs);
    });
    const diedWithoutRedis = (kind: 'beat' | 'end'): [Step[]] => [
      [
        { do: 'pass', ms: 1 },
        { do: 'away', on: 1 },
        { do: kind, on: 1 },
        { do: 'crash', on: 1 },
      ],
    ];
    await fc.assert(holds, { ...examples(150), examples: [diedWithoutRedis('beat'), diedWithoutRedis('end')] });
  });
});
