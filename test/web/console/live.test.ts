import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { FeedFrame, SessionChange } from '../../../src/protocol/operator/feed.ts';
import type { OperatorRefusal } from '../../../src/protocol/operator/refusal.ts';
import { exampleNode } from '../../../src/operators/installation/routes.ts';
import { exampleOverviewActivity } from '../../../src/operators/overview/routes.ts';
import { exampleSession } from '../../../src/operators/sessions/list-routes.ts';
import { countedAfter, toldRefusals } from '../../../src/web/console/data/refusals.ts';
import { isWhole, lastMinute, overviewAfter, overviewOver } from '../../../src/web/console/data/overview.ts';
import type * as Live from '../../../src/web/console/data/live.ts';
import type * as Paged from '../../../src/web/console/data/paged.ts';
import type * as Rows from '../../../src/web/console/data/session-rows.ts';
import { nodesAfter } from '../../../src/web/console/data/nodes.ts';
import type { Overview, RefusalPage, Session } from '../../../src/web/console/data/shapes.ts';

const AT = '2030-01-01T12:00:00.000Z';
const SECOND = 1000;

/** A browser, as far as the console's data needs one: the test plays replies and the feed. */
class Browser {
  readonly asked: string[] = [];
  readonly sockets: FakeSocket[] = [];
  answer: (path: string) => object = () => ({});

  constructor() {
    vi.useFakeTimers({ now: Date.parse(AT) });
    const { sockets } = this;
    vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
    vi.stubGlobal('location', { origin: 'http://console.example' });
    vi.stubGlobal(
      'WebSocket',
      class extends FakeSocket {
        constructor() {
          super();
          sockets.push(this);
        }
      },
    );
    vi.stubGlobal('fetch', async (path: string) => {
      this.asked.push(path);
      return Response.json(this.answer(path));
    });
  }

  say(frame: object): void {
    this.sockets.at(-1)?.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(frame) }));
  }

  hello(): void {
    this.say({ type: 'hello', seq: 0, at: AT, node: 'a', role: 'operator', lossy: false });
  }

  /** The requests since the last call. */
  news(): readonly string[] {
    return this.asked.splice(0);
  }
}

class FakeSocket extends EventTarget {
  readonly sent: string[] = [];

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.dispatchEvent(new Event('close'));
  }
}

function session(ref: string, fields: Partial<Session> = {}): Session {
  const { id: _, ...rest } = exampleSession;
  return { ...rest, ref, ...fields };
}

function change(ref: string, fields: Partial<SessionChange> = {}): SessionChange {
  const { tenantId, agentId, keyId, caller } = exampleSession;
  const told = { state: 'idle', was: 'engaged', reason: null, at: AT, deadline: null, next: null } as const;
  return { ref, ...told, tenantId, agentId, keyId, caller, ...fields };
}

const ended = { state: 'ended', was: 'engaged', reason: 'closed_by_client' } as const;

const refsOf = (rows: Rows.SessionRows): string[] => rows.shown.peek().map(({ key }) => key);

let browser: Browser;
let modules: {
  readonly live: typeof Live;
  readonly rows: typeof Rows;
  readonly paged: typeof Paged;
};
let stop: () => void = () => {};
// All tests use the modules of one page: its socket stays open from one test to the next.
beforeAll(async () => {
  browser = new Browser();
  // Modules loaded by another test file of this worker count their seconds with real timers.
  vi.resetModules();
  modules = {
    live: await import('../../../src/web/console/data/live.ts'),
    rows: await import('../../../src/web/console/data/session-rows.ts'),
    paged: await import('../../../src/web/console/data/paged.ts'),
  };
});
afterEach(async () => {
  stop();
  modules.live.isPaused.value = false;
  // Nothing is shown any more: lets pending timers run out.
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  browser.news();
});
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A list that is shown, after the feed has begun and everything that this causes has been read. */
async function list(sessions: readonly Session[], filter = {}) {
  const { live, rows } = modules;
  const found = (newest: readonly Session[]): void => {
    browser.answer = () => ({ sessions: newest, nextCursor: null, asOf: AT, searchedTo: null });
  };
  found(sessions);
  const shown = new rows.SessionRows(filter);
  await shown.refresh();
  const view = { refresh: () => shown.refresh(), take: (frame: FeedFrame) => shown.take(frame) };
  stop = live.keepFresh(view, { topics: ['counts', 'sessions'] });
  browser.hello();
  await vi.advanceTimersByTimeAsync(8 * SECOND);
  browser.news();
  const tell = (...changes: readonly SessionChange[]): void =>
    browser.say({ type: 'sessions', seq: 1, changes, more: 0 });
  const row = (ref: string) => ({
    ...shown.get(ref)?.row.peek(),
    isPast: shown.get(ref)?.isPast.peek(),
  });
  return { shown, found, tell, row };
}

describe('A list of sessions that follows the feed', () => {
  test('is read once more when other nodes have learned that it is watched, and after loading more', async () => {
    const { rows, live } = modules;
    browser.answer = () => ({ sessions: [], nextCursor: null, asOf: AT, searchedTo: null });
    const shown = new rows.SessionRows({});
    await shown.refresh();
    browser.sockets.at(-1)?.close();
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    const view = { refresh: () => shown.refresh(), take: (frame: FeedFrame) => shown.take(frame) };
    stop = live.keepFresh(view, { topics: ['counts', 'sessions'] });
    browser.news();
    browser.hello();
    expect(browser.sockets.at(-1)?.sent).toEqual([JSON.stringify({ type: 'watch', topics: ['counts', 'sessions'] })]);
    await vi.advanceTimersByTimeAsync(4 * SECOND);
    expect(browser.news()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(8 * SECOND);
    expect(browser.news()).toEqual([]);
    live.keepFresh(view, { topics: ['counts', 'refusals'] });
    await vi.advanceTimersByTimeAsync(4 * SECOND);
    expect(browser.news()).toHaveLength(1);
  });

  test('updates a row in place at once, without reading', async () => {
    const { shown, tell, row } = await list([session('b'), session('a')], { state: 'engaged,idle' });
    const next = { at: '2030-01-01T13:00:00.000Z', to: 'stale', reason: null } as const;
    tell(change('a', { next, deadline: next.at }));
    expect(row('a')).toMatchObject({ state: 'idle', deadline: next, isPast: false });
    expect(refsOf(shown)).toEqual(['b', 'a']);
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    expect(browser.news()).toEqual([]);
  });

  test('dims an ended row in its place, and reads its usage', async () => {
    const { shown, tell, row } = await list([session('b'), session('a')], { state: 'engaged' });
    tell(change('b', ended));
    expect(row('b')).toMatchObject({ state: 'ended', endReason: 'closed_by_client', endedAt: AT, isPast: true });
    expect(refsOf(shown)).toEqual(['b', 'a']);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(browser.news()).toHaveLength(1);
  });

  test('is not reverted by a reading older than the feed', async () => {
    const { shown, found, tell, row } = await list([session('a')]);
    tell(change('a', ended));
    await shown.refresh();
    expect(row('a')).toMatchObject({ state: 'ended', endReason: 'closed_by_client' });
    found([session('a', { state: 'ended', endReason: 'closed_by_client', usage: { tokens: 9, dollars: 1 } })]);
    await shown.refresh();
    expect(row('a')).toMatchObject({ state: 'ended', usage: { tokens: 9 } });
  });

  test('stays if more of it cannot be read, says why and offers another try', async () => {
    const { shown } = await list([session('b'), session('a')]);
    const { asked, answer } = browser;
    shown.nextCursor.value = 'next';
    browser.answer = () => {
      throw new Error('the service is away');
    };
    expect(await shown.more()).toEqual({ kind: 'away' });
    expect(refsOf(shown)).toEqual(['b', 'a']);
    expect(shown.failure.peek()).toBeUndefined();
    browser.answer = () => ({ ...answer(''), sessions: [session('older')] });
    expect(await shown.more()).toBeUndefined();
    expect(refsOf(shown)).toEqual(['b', 'a', 'older']);
    expect(asked.filter((path) => path.includes('cursor=next'))).toHaveLength(2);
  });

  test('reads at most once in three seconds however much arrives, and counts new rows before showing them', async () => {
    const { shown, found, tell } = await list([session('a')]);
    found([session('b'), session('a')]);
    for (let n = 0; n < 40; n += 1) {
      tell(change(`new ${n}`, { state: 'engaged', was: null }));
      await vi.advanceTimersByTimeAsync(250);
    }
    expect(browser.news().length).toBeLessThanOrEqual(4);
    expect(refsOf(shown)).toEqual(['a']);
    expect(shown.fresh.peek().map(({ ref }) => ref)).toEqual(['b']);
    tell(change('b'));
    shown.showFresh();
    expect(shown.get('b')?.row.peek().state).toBe('idle');
  });

  test.each([
    ['a session that is not listed and was not just opened', {}, change('other'), 0],
    ['one that the filter would not find', { state: 'idle' }, change('other', { state: 'engaged', was: null }), 0],
    ['any change where rows are sorted by what changes', { sort: 'deadline', endingWithinSec: '60' }, change('a'), 1],
  ])('reads again as often as needed for %s', async (_, filter, told, times) => {
    const { tell } = await list([session('a')], filter);
    tell(told);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(browser.news()).toHaveLength(times);
  });

  test('stands still while it is paused, counts what waits, and shows it afterwards', async () => {
    const { shown, tell, row } = await list([session('b'), session('a')]);
    modules.live.isPaused.value = true;
    tell(change('a'));
    tell(change('a', ended), change('b'));
    expect(row('a')).toMatchObject({ state: 'engaged', isPast: false });
    expect(modules.live.waiting.peek()).toBe(2);
    modules.live.isPaused.value = false;
    await shown.refresh();
    expect(row('a')).toMatchObject({ state: 'ended' });
    expect(row('b')).toMatchObject({ state: 'idle' });
    expect(modules.live.waiting.peek()).toBe(0);
  });

  test('says how old it is while the database is away, although the feed goes on', async () => {
    const { live } = modules;
    await list([session('a')]);
    const tick = (byState: object | null): void =>
      browser.say({ type: 'tick', seq: 1, at: new Date().toISOString(), byState, lossy: false });
    const counts = { engaged: 1, idle: 0, stale: 0, ended: 0 };
    // The first tick sets the page's clock, by which the second is judged.
    for (let heard = 0; heard < 2; heard += 1) {
      tick(counts);
      await vi.advanceTimersByTimeAsync(2 * SECOND);
    }
    const seen: string[] = [];
    for (let second = 0; second < 18; second += 2) {
      tick(null);
      await vi.advanceTimersByTimeAsync(2 * SECOND);
      seen.push(live.freshness.value);
    }
    expect([...new Set(seen)]).toEqual(['live', 'stale', 'away']);
    tick(counts);
    expect(live.freshness.value).toBe('live');
  });

  test('is read again after a gap', async () => {
    await list([session('a')]);
    browser.say({ type: 'gap', seq: 1, dropped: null });
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(browser.news()).toHaveLength(1);
  });
});

function refusal(requestId: string, fields: Partial<OperatorRefusal> = {}): OperatorRefusal {
  const none = { tenantId: null, keyId: null, subject: null, origin: null, addressHash: null, network: null };
  const numbers = { limit: null, count: null, retryAfter: null, verdict: null, lever: null };
  const told = { code: 'NOT_FOUND', status: 404, layer: 'edge', route: 'none', sentence: 'There is nothing.' } as const;
  return { requestId, at: AT, ...told, ...none, ...numbers, node: 'a', ...fields };
}

function refused(samples: readonly OperatorRefusal[], byCode: Record<string, number>) {
  return { type: 'refusals' as const, seq: 1, byCode, samples: [...samples], more: 0 };
}

describe('The list of refusals', () => {
  const page: RefusalPage = {
    refusals: [refusal('req_a')],
    counted: { NOT_FOUND: 1 },
    kept: { NOT_FOUND: 1 },
    series: [],
    seriesBy: 'hour',
    isCounted: true,
    nextCursor: null,
    asOf: AT,
    searchedTo: null,
    isPartial: false,
  };

  test('counts those from the feed behind a button, and keeps them even if they are not stored yet', async () => {
    browser.answer = () => page;
    const rows = new modules.paged.PagedRows<RefusalPage, OperatorRefusal>({
      address: () => '/api/operator/refusals',
      rowsOf: ({ refusals }) => refusals,
      keyOf: ({ requestId }) => requestId,
      watch: { topics: ['refusals'] },
      feed: {
        rowsOf: (frame) => (frame.type === 'refusals' ? toldRefusals({}, frame) : undefined),
        after: (one, frame) => (frame.type === 'refusals' ? countedAfter(one, {}, frame) : one),
        orderOf: ({ at, requestId }) => `${at} ${requestId}`,
      },
    });
    await rows.refresh();
    const [b, c] = [
      refusal('req_b', { at: '2030-01-01T12:00:01.000Z' }),
      refusal('req_c', { at: '2030-01-01T12:00:02.000Z' }),
    ];
    expect(rows.take(refused([b, c], { NOT_FOUND: 7 }))).toBe(false);
    await rows.refresh();
    expect(rows.shown.peek().map(({ key }) => key)).toEqual(['req_a']);
    expect(rows.fresh.peek().map(({ requestId }) => requestId)).toEqual(['req_c', 'req_b']);
    expect(modules.live.waiting.peek()).toBe(2);
    rows.showFresh();
    rows.take(refused([c], { NOT_FOUND: 1 }));
    expect(rows.shown.peek().map(({ key }) => key)).toEqual(['req_c', 'req_b', 'req_a']);
    expect(rows.fresh.peek()).toEqual([]);
  });

  test('adds only what matches its filter', () => {
    const frame = refused([refusal('a', { network: '203.0.113.0/24' }), refusal('b', { code: 'BOT_BLOCKED' })], {
      NOT_FOUND: 3,
      BOT_BLOCKED: 1,
    });
    const idsOf = (filter: object): readonly string[] =>
      toldRefusals(filter, frame).rows.map(({ requestId }) => requestId);
    expect(idsOf({})).toEqual(['b', 'a']);
    expect(idsOf({ code: 'BOT_BLOCKED' })).toEqual(['b']);
    expect(idsOf({ network: '203.0.113.0/24' })).toEqual(['a']);
    expect(idsOf({ tenantId: 'acme' })).toEqual([]);
    expect(idsOf({ to: '-1h' })).toEqual([]);
    expect(countedAfter(page, { code: 'NOT_FOUND' }, frame)).toMatchObject({
      counted: { NOT_FOUND: 4 },
      kept: { NOT_FOUND: 2 },
    });
    const many = Array.from({ length: 20 }, (_, n) => refusal(String(n)));
    expect(toldRefusals({}, refused(many, { NOT_FOUND: 50 })).isUntold).toBe(true);
  });
});

describe('The overview without its database', () => {
  const whole = {
    ...exampleOverviewActivity,
    byState: { engaged: 1, idle: 0, stale: 0, ended: 0 },
    byCaller: { widget: 1, console: 0 },
    byTenant: { acme: 1 },
    spend: null,
    unexplainedDollars: 0,
    reconciledAt: null,
    webhooks: { failing: 0, disabled: 0 },
  } satisfies Overview;
  const parts = { byState: null, byCaller: null, byTenant: null, spend: null, endingSoon: null, activity: null };
  const away: Overview = {
    ...whole,
    ...parts,
    asOf: AT,
    verdict: { us: 'degraded', provider: 'unknown', sentence: 'Us: the database is away.' },
  };

  test('keeps the earlier figures under the present verdict', () => {
    expect(overviewOver(away, whole)).toEqual({ ...whole, asOf: AT, verdict: away.verdict });
    expect(overviewOver(away, undefined)).toEqual(away);
    expect(overviewOver(whole, away)).toEqual(whole);
  });

  test('is marked as incomplete', () => {
    expect([isWhole(whole), isWhole(away)]).toEqual([true, false]);
  });
});

describe('The overview after a tick', () => {
  const activity = exampleOverviewActivity.activity as NonNullable<Overview['activity']>;
  const read = { ...exampleOverviewActivity, byState: { engaged: 1, idle: 0, stale: 0, ended: 0 } } as Overview;
  const tick = {
    type: 'tick' as const,
    seq: 1,
    at: AT,
    byState: { engaged: 9, idle: 1, stale: 0, ended: 4 },
    endingSoon: 3,
    perMinute: { started: 5, ended: 2, refused: 8 },
    dependencies: [],
    lossy: false,
  };

  test('takes counts, sessions that end soon, the last minute and dependencies from the tick', () => {
    const shown = overviewAfter(read, tick);
    expect(shown).toMatchObject({ byState: tick.byState, endingSoon: 3, dependencies: [] });
    expect(shown.activity?.minute.started).toBe(5);
    expect(lastMinute(read, activity.minute)).toEqual({ started: 96, ended: 80, refused: 12 });
    expect(lastMinute(shown, activity.minute)).toEqual(tick.perMinute);
  });

  test('keeps what the tick could not read', () => {
    const nothing = { ...tick, byState: null, endingSoon: null, perMinute: null, dependencies: null };
    expect(overviewAfter(read, nothing)).toEqual(read);
  });
});

describe('The nodes after a frame', () => {
  const [one, two] = [exampleNode, { ...exampleNode, id: 'two' }];
  const list = { nodes: [one, two], differs: [], asOf: AT };
  const frame = { type: 'node' as const, seq: 1, gone: false };

  test('are updated in place, added below, and removed', () => {
    const later = { ...one, seenAt: '2030-01-01T12:00:05.000Z', sockets: 7 };
    expect(nodesAfter(list, { ...frame, node: later })).toEqual({ ...list, nodes: [later, two], asOf: later.seenAt });
    const third = { ...exampleNode, id: 'three' };
    expect(nodesAfter(list, { ...frame, node: third }).nodes.map(({ id }) => id)).toEqual([one.id, 'two', 'three']);
    expect(nodesAfter(list, { ...frame, node: two, gone: true }).nodes).toEqual([one]);
  });
});
