import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type * as Suggestions from '../../../src/web/console/data/suggestions.ts';

const MINUTE_MS = 60_000;
const ask = vi.fn<typeof fetch>();
let suggestions: typeof Suggestions;

beforeEach(async () => {
  vi.resetModules();
  vi.useFakeTimers();
  vi.stubGlobal('location', { origin: 'http://console.example' });
  vi.stubGlobal('fetch', ask);
  suggestions = await import('../../../src/web/console/data/suggestions.ts');
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** What the service answers from now on: one tenant, with an agent and a key. */
function has(tenant: string): void {
  const tenants = [{ id: tenant, agents: [`${tenant}-agent`] }];
  ask.mockImplementation(() =>
    Promise.resolve(Response.json({ tenants, keys: [{ id: `${tenant}-key`, tenantId: tenant }] })),
  );
}

const suggested = () => (['tenant', 'key', 'agent'] as const).map((what) => suggestions.suggestionsOf(what, ''));

test('Suggestions are read when somebody is about to choose, and again when they are older than a minute', async () => {
  const acme = [['acme'], ['acme-key'], ['acme-agent']];
  has('acme');
  await suggestions.readSuggestions();
  expect(suggested()).toEqual(acme);
  has('globex');
  vi.advanceTimersByTime(MINUTE_MS - 1);
  await suggestions.readSuggestions();
  expect(suggested()).toEqual(acme);
  vi.advanceTimersByTime(1);
  ask.mockImplementationOnce(() => Promise.reject(new TypeError('away')));
  await suggestions.readSuggestions();
  expect(suggested()).toEqual(acme);
  await suggestions.readSuggestions();
  expect(suggested()).toEqual([['globex'], ['globex-key'], ['globex-agent']]);
  expect(ask).toHaveBeenCalledTimes(3);
});
