import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { WorstCase } from '../../../machines/held-call/responses.ts';
import { NO_TOKENS, type TokenClasses } from '../../../src/protocol/price.ts';
import type { NewBudget } from '../../../src/stores/budgets/contract.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import type { UpstreamEvent } from '../../../src/upstream/contract.ts';
import { attached, type ChannelClient } from '../../channel/client.ts';
import { exchange, openBrokered, openedBy, type Opened } from '../../http/calls.ts';
import { CONSOLE, somebody, unique, type TestApp, type TestAppOptions } from '../../support/app.ts';
import { HOUR, MINUTE, NOON, SECOND } from '../../support/clock.ts';
import { FakeBrokeredProvider, type FakeSideband } from '../../support/fake-brokered-provider.ts';
import { useApps } from '../../support/use-apps.ts';
import { done, started } from '../calls/calls-world.ts';

const { build, database } = useApps();

const roomy = { concurrentSessions: 100, sessionsPerMinute: 100, dailyTokens: 1e9 };
/** Micro-dollars per token of audio. */
const [AUDIO_IN, AUDIO_OUT] = [32, 64];

async function start(options: Partial<TestAppOptions> = {}) {
  const provider = new FakeBrokeredProvider();
  const app = await build({ brokered: provider, ...options, env: { CALL_MODE: 'brokered', ...options.env } });
  return { app, provider };
}

/** Opens a session of the key with a call, and returns both with the call's sideband. */
async function speak(app: TestApp, provider: FakeBrokeredProvider, key: WidgetKey, body: object = {}) {
  const session = await openBrokered(app, key, body);
  return { session, sideband: await openCall(app, provider, session) };
}

async function openCall(app: TestApp, provider: FakeBrokeredProvider, session: Opened): Promise<FakeSideband> {
  expect((await exchange(app, session)).status).toBe(201);
  return provider.sideband;
}

const response = (audioOut: number, audioIn = 0): UpstreamEvent => ({
  type: 'usage',
  key: unique('resp_'),
  model: undefined,
  tokens: { ...NO_TOKENS, audioOut, audioIn },
});

/** Waits until everything that was heard is in the ledger, and its consequences are done. */
async function settled({ service }: TestApp): Promise<void> {
  await service.metering.flush();
  await service.heldCalls?.settled();
}

async function hear(app: TestApp, sideband: FakeSideband, ...events: readonly UpstreamEvent[]): Promise<void> {
  for (const event of events) sideband.hear(event);
  await settled(app);
}

/** Warnings at a share of a ceiling have no seconds, and are left out. */
const secondsTold = (client: ChannelClient): number[] =>
  client
    .heard()
    .flatMap((frame) => (frame.type === 'warning' && frame.reason === 'quota' ? (frame.secondsLeft ?? []) : []));

/**
 * Lets seconds pass as the service does: by threes, which keep leases alive, but one by one around `closely` and at the end.
 * @param closely seconds in which something is expected
 * @returns the seconds left that were told, each with the second in which it was
 */
async function pass(app: TestApp, client: ChannelClient, seconds: number, closely: readonly number[] | 'all' = []) {
  const told: { readonly second: number; readonly secondsLeft: number }[] = [];
  for (let second = 0; second < seconds;) {
    const isNear = closely === 'all' || [...closely, seconds].some((at) => second < at + 1 && second + 4 > at);
    const step = isNear ? 1 : 3;
    second += step;
    app.clock.advance(step * SECOND);
    await app.service.heldCalls?.renewLease();
    await app.service.heldCalls?.tick();
    await settled(app);
    await app.service.budgets.tick();
    told.push(...secondsTold(client).map((secondsLeft) => ({ second, secondsLeft })));
  }
  return told;
}

const endReason = async (app: TestApp, { id }: Opened) => (await app.sessions.find(id))?.endReason;
const totalOf = async (app: TestApp, account: string): Promise<number> =>
  (await app.service.stores.ledger.totals(account, app.service.calendar(app.clock.now()).day)).microDollars;

describe('A session whose calls are metered by what the provider tells', () => {
  test('is warned 60 and 10 seconds before what is left is burnt, on whichever node its socket is', async () => {
    const { app, provider } = await start();
    const elsewhere = (await start({ live: app.live, clock: app.clock })).app;
    const key = await app.key({ limits: { ...roomy, dailyDollars: 1 } });
    await elsewhere.service.directory.reload();
    const { session, sideband } = await speak(app, provider, key);
    const client = attached(elsewhere, session.id);
    const stranger = attached(elsewhere, (await speak(app, provider, await app.key({ limits: roomy }))).session.id);
    // At a cent a second the dollar lasts 100 s, less the longest response, whose price is 26 cents at first.
    const told: { readonly second: number; readonly secondsLeft: number }[] = [];
    for (let second = 1; second <= 70; second += 1) {
      await hear(app, sideband, { ...response(0), tokens: { ...NO_TOKENS, textIn: 2500 } } as UpstreamEvent);
      told.push(...(await pass(app, client, 1)).map(({ secondsLeft }) => ({ second, secondsLeft })));
    }
    expect(told).toHaveLength(2);
    for (const { second, secondsLeft } of told) expect(Math.abs(second + secondsLeft - 74)).toBeLessThan(7);
    expect(told[1]?.secondsLeft).toBeLessThanOrEqual(10);
    expect(await endReason(app, session)).toBe(null);
    expect(secondsTold(stranger)).toEqual([]);
  });

  test('is warned by the time that passes while nothing is said, and ended by an entry alone', async () => {
    const { app, provider } = await start();
    const { session, sideband } = await speak(app, provider, await app.key({ limits: { ...roomy, dailyDollars: 1 } }));
    const client = attached(app, session.id);
    app.clock.advance(MINUTE);
    await hear(app, sideband, response(4000));
    const told = await pass(app, client, 200, 'all');
    expect(told).toMatchObject([{ secondsLeft: 60 }, { secondsLeft: 10 }]);
    expect(await endReason(app, session)).toBe(null);
    expect(provider.live.size).toBe(1);
  });

  test('is cut by the entry that passes the ceiling: the hang-up waits for no tick', async () => {
    const { app, provider } = await start();
    const { session, sideband } = await speak(
      app,
      provider,
      await app.key({ limits: { ...roomy, dailyDollars: 0.5 } }),
    );
    await hear(app, sideband, response(7812));
    expect(provider.hangUps).toEqual([]);
    await hear(app, sideband, response(1));
    expect(await endReason(app, session)).toBe('quota_exceeded');
    expect(provider.hangUps).toEqual(['rtc_1']);
    expect(provider.live.size).toBe(0);
  });

  test('has responses no longer than half of the remainder pays for, and shorter ones as little is left', async () => {
    const { app, provider } = await start();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.512 } });
    const { sideband } = await speak(app, provider, key);
    expect(provider.requests[0]?.maxOutputTokens).toBe(4000);
    await hear(app, sideband, response(6000));
    expect(sideband.limit).toBe(4000);
    await hear(app, sideband, response(1000));
    expect(sideband.limit).toBe(500);
    await hear(app, sideband, response(100));
    expect(sideband.limit).toBe(500);
  });

  test('has short responses also after its sideband was lost', async () => {
    const { app, provider } = await start();
    const { sideband } = await speak(app, provider, await app.key({ limits: { ...roomy, dailyDollars: 0.512 } }));
    await hear(app, sideband, response(7000));
    sideband.close();
    await settled(app);
    app.clock.advance(5 * SECOND);
    await app.service.heldCalls?.tick();
    await settled(app);
    expect(provider.sideband).not.toBe(sideband);
    // The gap was charged as well.
    expect(provider.sideband.limit).toBeLessThanOrEqual(500);
  });
});

describe('What is left pays for responses', () => {
  const NONE = { tokens: 0, microDollars: 0 };
  const worst = (outputTokens: number, context: Partial<TokenClasses> = {}): WorstCase => ({
    context: { ...NO_TOKENS, ...context },
    outputTokens,
  });

  test('as far as the worst of all that run, their contexts included, is not above it', async () => {
    const { app, provider } = await start();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.512 } });
    const { session, sideband } = await speak(app, provider, key);
    const [call] = await app.service.calls.ofSession(session.id);
    const affords = (...responses: readonly WorstCase[]) =>
      app.service.budgets.affords(call?.id ?? '', responses, NONE);
    expect(affords(worst(4000), worst(4000))).toBe(true);
    expect(affords(worst(4000), worst(4000, { textIn: 1 }))).toBe(false);
    // No provider allows a response of more than 4,096 tokens.
    expect(affords(worst(Infinity))).toBe(true);
    expect(affords(worst(Infinity), worst(Infinity))).toBe(false);
    await hear(app, sideband, response(6000));
    expect(affords(worst(2000))).toBe(true);
    expect(affords(worst(2001))).toBe(false);
  });

  test('less what was heard and the database does not have yet', async () => {
    const { app, provider } = await start();
    const { sideband } = await speak(app, provider, await app.key({ limits: { ...roomy, dailyDollars: 0.512 } }));
    const beside = { isInConversation: false, maxOutputTokens: 3000, grantedTokens: 4000 } as const;
    database().isAway = true;
    for (const id of ['a', 'b']) {
      sideband.hear(started(id, beside));
      sideband.hear({ ...response(3000), key: id } as UpstreamEvent);
      sideband.hear(done(id));
    }
    sideband.hear(started('c', beside));
    expect(sideband.cancelled).toEqual(['c']);
    await expect(app.service.metering.flush()).rejects.toThrow(Unavailable);
    database().isAway = false;
    await settled(app);
    sideband.hear(done('c'));
    sideband.hear(started('d', { ...beside, maxOutputTokens: 1000 }));
    expect(sideband.cancelled).toEqual(['c']);
  });

  test('of the ceiling that comes first, in tokens too', async () => {
    const { app, provider } = await start();
    const { session } = await speak(app, provider, await app.key({ limits: { ...roomy, dailyTokens: 1000 } }));
    const [call] = await app.service.calls.ofSession(session.id);
    expect(app.service.budgets.affords(call?.id ?? '', [worst(900, { textIn: 100 })], NONE)).toBe(true);
    expect(app.service.budgets.affords(call?.id ?? '', [worst(900, { textIn: 101 })], NONE)).toBe(false);
  });
});

describe('A session whose calls are metered by the clock', () => {
  /** A dollar per minute. */
  const price = { perMinute: 1_000_000, estimatePerMinute: 1_000_000 };

  /** Makes a budget of two dollars. */
  async function makeBudget(app: TestApp, { id: keyId }: WidgetKey, changes: Partial<NewBudget>): Promise<void> {
    const amounts = { microDollars: 2_000_000, tokens: null, microMinutes: null } as const;
    const usual = { warnAt: [], atLimit: 'end', tell: [], madeBy: 'operator', changedAtMs: NOON } as const;
    const terms = { tenantId: 'clocked', id: unique('b'), of: `key:${keyId}`, period: 'month', from: null } as const;
    await app.service.stores.budgets.insert({ ...terms, ...amounts, ...usual, ...changes }, 50);
    await app.service.directory.reload();
  }

  interface Beginning {
    readonly minimumSec?: number;
    /** Of its key, beside the ceilings. */
    readonly budget?: Partial<NewBudget>;
    readonly atMs?: number;
  }

  async function byTheClock(
    key: Parameters<TestApp['key']>[0],
    { minimumSec = 0, budget, atMs = NOON }: Beginning = {},
  ) {
    const { app, provider } = await start();
    app.clock.set(atMs);
    provider.capabilities = { ...provider.capabilities, meter: 'clock' };
    await app.service.stores.tenants.merge([
      {
        id: 'clocked',
        name: 'Clocked',
        agents: [{ id: 'live', model: 'live', price: { ...price, minimumSec } }],
        admins: null,
        keys: [],
      },
    ]);
    await app.service.directory.reload();
    const its = await app.key({ tenantId: 'clocked', ...key });
    if (budget !== undefined) await makeBudget(app, its, budget);
    const session = await openBrokered(app, its, { agentId: 'live' });
    expect((await exchange(app, session)).status).toBe(201);
    expect(provider.requests[0]?.maxOutputTokens).toBeUndefined();
    return { app, provider, session, client: attached(app, session.id), key: its };
  }

  test.each([
    ['its subject’s ceiling', { limits: { ...roomy, dailyDollars: 2 } }],
    ['its key’s', { limits: roomy, totals: { dollarsDaily: 2 } }],
  ])('is ended in the second that its warnings told, by %s', async (_, key) => {
    const { app, provider, session, client } = await byTheClock(key);
    expect(await pass(app, client, 119, [60, 110])).toEqual([
      { second: 60, secondsLeft: 60 },
      { second: 110, secondsLeft: 10 },
    ]);
    expect(await endReason(app, session)).toBe(null);
    await pass(app, client, 2);
    expect(await endReason(app, session)).toBe('quota_exceeded');
    expect(provider.live.size).toBe(0);
  });

  test('talks for what is left, although its first seconds were charged at the start', async () => {
    const { app, session, client } = await byTheClock({ limits: { ...roomy, dailyDollars: 0.5 } }, { minimumSec: 25 });
    expect(await pass(app, client, 29, [20])).toEqual([{ second: 20, secondsLeft: 10 }]);
    expect(await endReason(app, session)).toBe(null);
    await pass(app, client, 2);
    expect(await endReason(app, session)).toBe('quota_exceeded');
  });

  test('leaves others what they hold', async () => {
    const { app, session, client, key } = await byTheClock({ limits: { ...roomy, dailyDollars: 2 } });
    const account = app.service.subjects.widgetKey(key.tenantId, key.id);
    const { day, resetAtMs } = app.service.calendar(app.clock.now());
    const all = { account, day, ceilings: { tokens: Infinity, microDollars: 2_000_000 } };
    const dollar = { tokens: 0, microDollars: 1_000_000 };
    expect(await app.service.stores.holds.take('another', [all], dollar, resetAtMs, app.clock.now())).toBe(true);
    await pass(app, client, 59);
    expect(await endReason(app, session)).toBe(null);
    await pass(app, client, 3);
    expect(await endReason(app, session)).toBe('quota_exceeded');
  });

  test.each<[string, Partial<NewBudget>]>([
    ['a week', { period: 'week' }],
    ['a month', { period: 'month' }],
    ['a session', { period: 'session' }],
    ['what was paid once', { period: 'once', from: '2030-01-01' }],
  ])('is warned and ended by a budget of %s where midnight comes first', async (_, budget) => {
    const atMs = NOON + 12 * HOUR - 90 * SECOND;
    const { app, session, client } = await byTheClock({ limits: roomy }, { budget, atMs });
    expect(await pass(app, client, 119, [60, 110])).toEqual([
      { second: 60, secondsLeft: 60 },
      { second: 110, secondsLeft: 10 },
    ]);
    expect(await endReason(app, session)).toBe(null);
    await pass(app, client, 2);
    expect(await endReason(app, session)).toBe('quota_exceeded');
  });

  test.each([
    ['day', '2030-01-03'],
    ['week', '2030-01-07'],
    ['month', '2030-02-01'],
  ] as const)('goes on where the %s of a budget ends first', async (period, day) => {
    const atMs = Date.parse(`${day}T00:00:00Z`) - 100 * SECOND;
    const { app, session, client } = await byTheClock({ limits: roomy }, { budget: { period }, atMs });
    expect(await pass(app, client, 130)).toEqual([]);
    expect(await endReason(app, session)).toBe(null);
  });

  test('goes on where the day ends first', async () => {
    const { app, session, client } = await byTheClock({ limits: { ...roomy, dailyDollars: 2 } });
    app.clock.set(app.service.calendar(app.clock.now()).resetAtMs - 100 * SECOND);
    await app.post('/api/realtime/heartbeat', { sm_session_id: session.id });
    expect(await pass(app, client, 5)).toEqual([]);
  });
});

describe('Ten sessions side by side', () => {
  /** Each session says as much as it may, all at once, until every call has ended. @returns what the dearest response cost, in micro-dollars */
  async function speakAll(app: TestApp, provider: FakeBrokeredProvider, sessions: readonly Opened[]): Promise<number> {
    const sidebands = [];
    for (const session of sessions) {
      const { status } = await exchange(app, session);
      if (status === 201) sidebands.push({ session, sideband: provider.sideband });
    }
    expect(sidebands).toHaveLength(10);
    let most = 0;
    for (let round = 0; provider.live.size > 0; round += 1) {
      expect(round).toBeLessThan(100);
      for (const { sideband } of sidebands.filter((one) => !one.sideband.isClosed)) {
        const said = sideband.limit ?? Number.NaN;
        most = Math.max(most, said * AUDIO_OUT + 100 * AUDIO_IN);
        sideband.hear(response(said, 100));
      }
      await settled(app);
    }
    for (const { session } of sidebands) expect(await endReason(app, session)).toBe('quota_exceeded');
    return most;
  }

  test('of one subject pass its ceiling by no more than one response each', async () => {
    const { app, provider } = await start({ env: { RESERVE_SEC: '20' } });
    const key = await app.key({ limits: { ...roomy, dailyDollars: 1 } });
    const sessions = await Promise.all(Array.from({ length: 12 }, () => openBrokered(app, key)));
    // Each holds a tenth of the ceiling, so two of the twelve may not call.
    const most = await speakAll(app, provider, sessions);
    const total = await totalOf(app, app.service.subjects.widgetKey('acme', key.id));
    expect(total).toBeGreaterThan(1_000_000);
    expect(total).toBeLessThanOrEqual(1_000_000 + 10 * most);
  });

  test.each([
    ['holds what its model costs in RESERVE_SEC', { transcribe: false }, 201],
    ['holds what writing down its visitor costs as well', { transcribe: {} }, 429],
  ])('each %s', async (_, behaviour, status) => {
    const { app } = await start({ env: { RESERVE_SEC: '60' } });
    // A minute costs 0.3 for the model and 0.0045 for its transcription.
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.302 } });
    const [first, second] = [await openBrokered(app, key, behaviour), await openBrokered(app, key, behaviour)];
    expect((await exchange(app, first)).status).toBe(201);
    expect((await exchange(app, second)).status).toBe(status);
  });

  test('of a key pass its total by no more than one response each', async () => {
    const { app, provider } = await start();
    const key = await app.key({ limits: roomy, totals: { dollarsDaily: 4 } });
    const sessions = [];
    for (let n = 0; n < 10; n += 1) sessions.push(await openBrokered(app, key, { email: somebody() }));
    const most = await speakAll(app, provider, sessions);
    const total = await totalOf(app, `key:acme:${key.id}`);
    expect(total).toBeGreaterThan(4_000_000);
    expect(total).toBeLessThanOrEqual(4_000_000 + 10 * most);
  });
});

describe('A console user who is refused', () => {
  const create = (app: TestApp, cookie: string) =>
    app.post('/api/session', { tenantId: 'acme', agentId: 'support' }, { cookie, origin: CONSOLE });
  const isLoggedIn = async (app: TestApp, cookie: string): Promise<boolean> =>
    (await app.get('/api/auth/session', { cookie, origin: CONSOLE })).status === 200;

  test('what another session holds stays logged in; when it is used, the login is over', async () => {
    const { app, provider } = await start({
      env: { CONSOLE_MAX_DOLLARS_DAILY: '0.3', CONSOLE_MAX_CONCURRENT_SESSIONS: '9' },
    });
    const cookie = await app.login(somebody());
    const session = openedBy(await create(app, cookie), CONSOLE);
    const sideband = await openCall(app, provider, session);
    const refused = await exchange(app, openedBy(await create(app, cookie), CONSOLE), { headers: { cookie } });
    expect(refused).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(await isLoggedIn(app, cookie)).toBe(true);
    await hear(app, sideband, response(5000));
    expect(await create(app, cookie)).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
    expect(await isLoggedIn(app, cookie)).toBe(false);
  });
});
