import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { worthAt } from '../../../src/app/reconciliation.ts';
import { priceTokens, readPrices } from '../../../src/metering/prices.ts';
import { NO_TOKENS, type TokenClass } from '../../../src/protocol/price.ts';
import { reconcileWhatIsDue, type ReconcileDeps } from '../../../src/reconciliation/reconcile.ts';
import { createPostgresLedger } from '../../../src/stores/ledger/postgres.ts';
import { createPostgresReconciliations } from '../../../src/stores/reconciliations/postgres.ts';
import type { ReconciledDay } from '../../../src/stores/reconciliations/contract.ts';
import { createPostgresVoiceCalls } from '../../../src/stores/voice-calls/postgres.ts';
import { OpenAiUsage } from '../../../src/upstream/openai-usage.ts';
import { call } from '../../contracts/voice-calls.ts';
import { usageOf } from '../../contracts/call-usage.ts';
import { DAY, HOUR, ManualClock } from '../../support/clock.ts';
import { examples } from '../../support/examples.ts';
import { TestDatabase } from '../../support/test-database.ts';
import { UsageApi } from '../../support/usage-api.ts';

const MODEL = 'gpt-realtime';
const [YESTERDAY, TODAY] = ['2030-01-01', Date.parse('2030-01-02')];

describe('The meter', () => {
  let database: TestDatabase;
  const prices = readPrices(undefined);
  let api: UsageApi;
  let clock: ManualClock;
  let drifted: string[];
  let faults: number;
  let node: ReconcileDeps;

  beforeEach(async () => {
    database = await TestDatabase.open();
    api = await UsageApi.start();
    clock = new ManualClock(TODAY + 6 * HOUR);
    [drifted, faults] = [[], 0];
    const { adminKey, baseUrl, project } = api;
    node = {
      store: createPostgresReconciliations(database),
      reader: new OpenAiUsage({ adminKey, baseUrl, project, timeoutMs: 60_000, wait: () => Promise.resolve() }),
      worthOf: worthAt(prices),
      mailTo: [],
      clock,
      events: {
        meterDrifted: ({ day, unexplainedMicroDollars }) => void drifted.push(`${day} ${unexplainedMicroDollars}`),
        dependencyAway: () => void (faults += 1),
      },
    };
  });
  afterEach(() => api.close());

  const days = (): Promise<readonly ReconciledDay[]> => node.store.list('2029-12-01', '2030-02-01');
  const states = async (): Promise<string[]> => (await days()).map(({ day, state }) => `${day} ${state}`);
  const bill = (audioIn: number): unknown =>
    api.days.set(YESTERDAY, { models: { [MODEL]: { audioIn } }, dollars: (audioIn * 32) / 1_000_000 });

  test('is compared for the last three days, from six in the morning on, once a day and by one node', async () => {
    clock.advance(-1);
    await reconcileWhatIsDue(node);
    expect(api.asked).toEqual([]);
    clock.advance(1);
    await Promise.all([reconcileWhatIsDue(node), reconcileWhatIsDue({ ...node })]);
    await reconcileWhatIsDue(node);
    expect(api.asked).toHaveLength(6);
    expect(await states()).toEqual(['2030-01-01 equal', '2029-12-31 equal', '2029-12-30 equal']);
    clock.advance(DAY);
    await reconcileWhatIsDue(node);
    expect(api.asked).toHaveLength(12);
    expect(await states()).toHaveLength(4);
  });

  test('tells of a drift once, and again only where it has grown', async () => {
    bill(1_000_000);
    await reconcileWhatIsDue(node);
    expect(drifted).toEqual([`${YESTERDAY} 32000000`]);
    expect(await node.store.unexplainedAt(clock.now())).toBe(32_000_000);
    clock.advance(DAY);
    await reconcileWhatIsDue(node);
    expect(drifted).toHaveLength(1);
    clock.advance(DAY);
    bill(2_000_000);
    await reconcileWhatIsDue(node);
    expect(drifted).toEqual([`${YESTERDAY} 32000000`, `${YESTERDAY} 64000000`]);
    clock.advance(2 * DAY);
    expect(await node.store.unexplainedAt(clock.now())).toBe(0);
  });

  test('is compared in dollars alone on days of which a former version kept no classes', async () => {
    const one = call({ provider: 'openai' });
    await createPostgresVoiceCalls(database).insert(one, 1);
    const usage = { model: MODEL, tokens: { ...NO_TOKENS, audioIn: 1_000_000 }, picoDollars: 32_000_000_000_000n };
    await createPostgresLedger(database).recordCall(usageOf(one.id, 'subject', { ...usage, atMs: TODAY - HOUR }));
    await database.run((sql) => sql`update usage_entry set classes = null`);
    bill(1_000_000);
    await reconcileWhatIsDue(node);
    expect([(await states())[0], drifted]).toEqual([`${YESTERDAY} equal`, []]);
  });

  test('leaves a day as it was while the provider fails, and asks for it again an hour later', async () => {
    for (let n = 0; n < 3; n += 1) api.faults.push({ status: 503 });
    await reconcileWhatIsDue(node);
    expect([await states(), faults]).toEqual([[], 3]);
    clock.advance(HOUR - 1);
    await reconcileWhatIsDue(node);
    expect(await states()).toEqual([]);
    clock.advance(1);
    await reconcileWhatIsDue(node);
    expect(await states()).toEqual(['2030-01-01 equal', '2029-12-31 equal', '2029-12-30 equal']);
    clock.advance(HOUR);
    const asked = api.asked.length;
    await reconcileWhatIsDue(node);
    expect(api.asked).toHaveLength(asked);
  });

  test('says since when the provider has given no usable answer', async () => {
    expect(await node.store.readAtMs()).toBeUndefined();
    const first = clock.now();
    for (let n = 0; n < 3; n += 1) api.faults.push({ status: 401 });
    await reconcileWhatIsDue(node);
    expect(await node.store.readAtMs()).toBe(first);
    clock.advance(DAY);
    await reconcileWhatIsDue(node);
    const read = clock.now();
    expect(await node.store.readAtMs()).toBe(read);
    api.counts = 'old';
    for (const day of ['2030-01-01', '2030-01-02', '2030-01-03'])
      api.days.set(day, { models: { [MODEL]: { audioIn: 1_000_000 } }, dollars: 32 });
    clock.advance(DAY);
    await reconcileWhatIsDue(node);
    expect((await states()).slice(0, 3).map((each) => each.split(' ')[1])).toEqual(Array(3).fill('unreadable'));
    expect(await node.store.readAtMs()).toBe(read);
  });

  test('is not compared with an answer that says something else', async () => {
    api.counts = 'old';
    bill(1_000_000);
    await reconcileWhatIsDue(node);
    expect((await states())[0]).toBe(`${YESTERDAY} unreadable`);
    expect(drifted).toEqual([]);
  });

  test('is what the provider bills for any calls, but for what was estimated', async () => {
    const kinds = fc.constantFrom<TokenClass>('textIn', 'textCached', 'textOut', 'audioIn', 'audioCached', 'audioOut');
    const tokens = fc.dictionary(kinds, fc.nat(200_000)).map((some) => ({ ...NO_TOKENS, ...some }));
    const response = fc.record({
      tokens,
      how: fc.constantFrom('heard', 'heard twice', 'in a gap', 'in a gap and reported'),
      isSnapshot: fc.boolean(),
      atMs: fc.integer({ min: 0, max: DAY - 1 }),
    });
    let at = TODAY - 400 * DAY;
    await fc.assert(
      fc.asyncProperty(fc.array(response, { maxLength: 30 }), async (responses) => {
        at += DAY;
        const one = call({ provider: 'openai' });
        await createPostgresVoiceCalls(database).insert(one, 1);
        const ledger = createPostgresLedger(database);
        const billed = { ...NO_TOKENS };
        let dollars = 0n;
        for (const [n, { tokens: used, how, isSnapshot, atMs }] of responses.entries()) {
          const model = isSnapshot ? `${MODEL}-2025-08-28` : MODEL;
          const price = prices.priceOf(MODEL, null).price;
          const picoDollars = priceTokens(used, price, prices.dearest);
          dollars += picoDollars;
          for (const name of Object.keys(billed) as TokenClass[]) billed[name] += used[name];
          const usage = usageOf(one.id, 'subject', {
            key: `resp_${n}`,
            model,
            tokens: used,
            picoDollars,
            atMs: at + atMs,
          });
          // Usage that nobody heard is estimated (here wrongly), and a client may still report it.
          const gap = usageOf(one.id, 'subject', {
            key: `gap_${n}`,
            model,
            isEstimated: true,
            picoDollars: (picoDollars * 3n) / 2n,
            atMs: at + atMs,
            gapMs: 1,
          });
          if (how.startsWith('in a gap')) await ledger.recordCall(gap);
          else await ledger.recordCall(usage);
          if (how === 'heard twice') await ledger.recordCall(usage);
          if (how === 'in a gap and reported') await ledger.recordCall({ ...usage, basis: 'reported' });
        }
        const day = new Date(at).toISOString().slice(0, 10);
        const half = Object.fromEntries(Object.entries(billed).map(([name, whole]) => [name, Math.floor(whole / 2)]));
        const rest = Object.fromEntries(Object.entries(billed).map(([name, whole]) => [name, Math.ceil(whole / 2)]));
        api.days.set(day, {
          models: { [MODEL]: half, [`${MODEL}-2025-08-28`]: rest },
          dollars: Number(dollars) / 1e12,
        });
        clock.set(at + DAY + 6 * HOUR);
        await reconcileWhatIsDue(node);
        const [reconciled] = await node.store.list(day, new Date(at + DAY).toISOString().slice(0, 10));
        const isHeard = responses.every(({ how }) => how.startsWith('heard'));
        expect(isHeard ? ['equal'] : ['equal', 'explained']).toContain(reconciled?.state);
        const different = reconciled?.rows.filter(({ ours, theirs }) => ours !== theirs);
        expect(isHeard ? different : []).toEqual([]);
      }),
      // Each has fifteen responses on average, so that each kind of them comes dozens of times.
      examples(20),
    );
  });
});
