import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ListedSession, Reply } from '../support/client.ts';
import { openStored } from '../support/stored.ts';
import { siteKey, World } from '../support/world.ts';
import { soon } from '../support/soon.ts';
import type { Environment } from '../support/switchboard.ts';

const MINUTE_MS = 60_000;

/** A visitor with a session, which outlives the server. */
class Visitor {
  readonly #world: World;
  readonly #email: string;
  #id = '';

  constructor(world: World, email: string) {
    this.#world = world;
    this.#email = email;
  }

  async open(): Promise<void> {
    const body = { widgetKey: siteKey, agentId: 'support', email: this.#email };
    const reply = await this.#world.visitor().post('/api/session', body);
    expect(reply.status, reply.text).toBe(200);
    this.#id = reply.body.sm_session_id ?? '';
  }

  /** The same visitor, for another session. */
  again(): Visitor {
    return new Visitor(this.#world, this.#email);
  }

  heartbeat(): Promise<Reply> {
    const body = { sm_session_id: this.#id, email: this.#email };
    return this.#world.visitor().post('/api/realtime/heartbeat', body);
  }

  /** Makes its stored session older, as if the server had been away for so long; it must not run. */
  async age(ms: number): Promise<void> {
    const database = await openStored(this.#world.environment);
    const { count } = await database.run(
      (sql) => sql`
        update voice_session set started_at_ms = started_at_ms - ${ms}, last_seen_at_ms = last_seen_at_ms - ${ms},
          last_activity_at_ms = last_activity_at_ms - ${ms}, settled_at_ms = settled_at_ms - ${ms}
        where id = ${this.#id}`,
    );
    await database.close();
    expect(count).toBe(1);
  }

  /** Its session as operators see it, once that is so. */
  async seen(wanted: Partial<ListedSession>): Promise<ListedSession> {
    return vi.waitFor(async () => {
      const reply = await this.#world.backend().get('/api/operator/sessions');
      expect(reply.status, reply.text).toBe(200);
      const found = reply.body.sessions?.find(({ id }) => id === this.#id);
      expect(found).toMatchObject(wanted);
      return found as ListedSession;
    }, soon);
  }
}

const lastedMs = (seen: ListedSession | undefined): number =>
  Date.parse(seen?.endedAt ?? '') - Date.parse(seen?.session.startedAt ?? '');

let world: World;

/** Opens sessions, kills the server, makes each session older by as much, and starts the server again. */
async function whileAway(awayMs: readonly number[], environment: Environment = {}): Promise<readonly Visitor[]> {
  world = await World.start(environment);
  const visitors = awayMs.map((_, index) => new Visitor(world, `visitor-${index}@mail.example`));
  for (const visitor of visitors) await visitor.open();
  await world.server.end('SIGKILL');
  for (const [index, visitor] of visitors.entries()) await visitor.age(awayMs[index] ?? 0);
  await world.startServer();
  return visitors;
}

describe('What fell due while the server was away', () => {
  let [idle, stale, present]: readonly Visitor[] = [];

  beforeAll(async () => {
    const awayMs = [10 * MINUTE_MS, 10 * MINUTE_MS, 4 * MINUTE_MS];
    [idle, stale, present] = await whileAway(awayMs, { WIDGET_MAX_CONCURRENT_SESSIONS: '1' });
  });
  afterAll(() => world.close());

  test('stays open when only the server was away, not the session', async () => {
    expect(await present?.heartbeat()).toMatchObject({ status: 200 });
  });

  test('is idle or stale when its time for that has come, and its slot is free', async () => {
    await idle?.seen({ state: 'idle', endedAt: null });
    await idle?.again().open();
    expect(await idle?.heartbeat()).toMatchObject({ status: 403, body: { reason: 'idle_exceeded' } });
  });

  test('is closed as abandoned, at the instant at which it had been stale for long enough', async () => {
    await stale?.seen({ state: 'idle' });
    await world.server.end('SIGKILL');
    await stale?.age(4 * 60 * MINUTE_MS);
    await world.startServer();
    const closed = await stale?.seen({ state: 'ended', endReason: 'abandoned' });
    // Idle for more than 3600 whole seconds, then 3600 more.
    expect(lastedMs(closed)).toBe((3601 + 3600) * 1000);
    expect(await stale?.heartbeat()).toMatchObject({ body: { reason: 'abandoned' } });
  });
});

describe('What fell due while the server was away, of sessions that nothing but their duration ends', () => {
  const rows: readonly [string, number][] = [
    ['a day', 24 * 60 * MINUTE_MS],
    ['twenty minutes', 20 * MINUTE_MS],
  ];
  let visitors: readonly Visitor[];

  beforeAll(async () => {
    const awayMs = rows.map(([, ms]) => ms);
    visitors = await whileAway(awayMs, { MAX_SESSION_IDLE_SEC: '86400', STALE_GRACE_SEC: '90000' });
  });
  afterAll(() => world.close());

  test.each(rows)('for %s is closed, at the instant at which its duration was over', async (_what, awayMs) => {
    const visitor = visitors[rows.findIndex(([, ms]) => ms === awayMs)];
    const closed = await visitor?.seen({ state: 'ended', endReason: 'duration_exceeded' });
    expect(lastedMs(closed)).toBe(15 * MINUTE_MS);
    expect(await visitor?.heartbeat()).toMatchObject({
      status: 403,
      body: { reason: 'duration_exceeded', maxMinutes: 15 },
    });
  });
});
