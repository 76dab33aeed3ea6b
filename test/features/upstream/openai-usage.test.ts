import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import { UpstreamFault, type ProviderDay } from '../../../src/upstream/contract.ts';
import { OpenAiUsage, type OpenAiUsageOptions } from '../../../src/upstream/openai-usage.ts';
import { UsageApi } from '../../support/usage-api.ts';

const FROM = Date.parse('2030-01-01');
const TO = Date.parse('2030-01-02');
const VISITOR_MESSAGES = { textIn: 100, textCached: 40, textOut: 30, audioIn: 900, audioCached: 300, audioOut: 700 };

describe('The usage that OpenAI tells', () => {
  let api: UsageApi;
  let waited: number[];

  beforeEach(async () => {
    api = await UsageApi.start();
    api.days.set('2030-01-01', { models: { 'gpt-realtime': VISITOR_MESSAGES }, dollars: 1.25 });
    waited = [];
  });
  afterEach(() => api.close());

  function read(changes: Partial<OpenAiUsageOptions> = {}): Promise<ProviderDay> {
    const { adminKey, baseUrl, project } = api;
    const wait = (ms: number): Promise<void> => Promise.resolve(void waited.push(ms));
    return new OpenAiUsage({ adminKey, baseUrl, project, timeoutMs: 60_000, wait, ...changes }).read(FROM, TO);
  }

  test.each(['apart', 'inclusive'] as const)(
    'is read by class, whether what is cached stands apart or within (%s)',
    async (counts) => {
      api.counts = counts;
      const { models, microDollars } = await read();
      expect([...models]).toEqual([['gpt-realtime', { ...NO_TOKENS, ...VISITOR_MESSAGES }]]);
      expect(microDollars).toBe(1_250_000);
    },
  );

  test('adds up the snapshots of a model, over all pages', async () => {
    const snapshots = Array.from({ length: 30 }, (_, n) => `gpt-realtime-2030-01-${String(n + 1).padStart(2, '0')}`);
    api.days.set('2030-01-01', {
      models: Object.fromEntries(snapshots.map((name) => [name, { audioIn: 10 }])),
      dollars: 0,
    });
    expect((await read()).models.get('gpt-realtime')).toEqual({ ...NO_TOKENS, audioIn: 300 });
    expect(api.asked.filter((url) => url.includes('completions'))).toHaveLength(5);
  });

  test('is of the project alone, and of the whole organization where none is named', async () => {
    expect([...(await read()).models.keys()]).toEqual(['gpt-realtime']);
    expect([...(await read({ project: undefined })).models.keys()]).toEqual(['gpt-realtime', 'gpt-of-others']);
  });

  test('is none of an API that does not tell classes apart', async () => {
    api.counts = 'old';
    await expect(read()).rejects.toMatchObject({ kind: 'malformed' });
  });

  test.each([
    ['that is no JSON', '<html>'],
    ['of another kind', '{"data":[{"results":[{"model":7}]}],"has_more":false,"next_page":null}'],
  ])('is none in an answer %s', async (_title, body) => {
    api.faults.push({ status: 200, body });
    await expect(read()).rejects.toMatchObject({ kind: 'malformed' });
  });

  test('has an end, however many pages a provider says that there are', async () => {
    for (let n = 0; n < 60; n += 1)
      api.faults.push({ status: 200, body: '{"data":[],"has_more":true,"next_page":"again"}' });
    await expect(read()).rejects.toMatchObject({ kind: 'malformed' });
    expect(api.asked).toHaveLength(50);
  });

  test('is waited for as long as the provider asks, and no longer than a minute at once', async () => {
    api.faults.push(
      { status: 429, headers: { 'retry-after': '3' } },
      { status: 429, headers: { 'retry-after': '3000' } },
    );
    expect((await read()).microDollars).toBe(1_250_000);
    expect(waited).toEqual([3000, 60_000]);
  });

  test('is given up for now where the provider fails, or does not take the key, which no fault quotes', async () => {
    api.faults.push({ status: 503 });
    await expect(read()).rejects.toMatchObject({ kind: 'refused', facts: { status: 503 } });
    const fault = await read({ adminKey: 'sk-admin-wrong' }).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(UpstreamFault);
    expect(JSON.stringify(fault) + String(fault)).not.toContain('sk-admin');
  });
});
