import { describe, expect, test } from 'vitest';
import { judge, type Observations } from '../../../src/operators/overview/verdict.ts';
import type { CountChange } from '../../../src/stores/activity/contract.ts';

const now = (kind: CountChange['kind'], label: string, n: number): CountChange => ({ kind, label, now: n, before: 0 });
const before = (label: string, n: number): CountChange => ({ kind: 'mint', label, now: 0, before: n });
const well = [now('mint', 'openai|ok|≤0.5', 100)];

type Case = [string, Partial<Observations>, 'fine' | 'degraded' | 'unknown', 'fine' | 'degraded', string];

const cases: Case[] = [
  ['nobody asks for anything', {}, 'unknown', 'fine', 'Provider: nothing asked in 5 min. Us: fine.'],
  [
    'too few mints to say',
    { lately: [now('mint', 'openai|timeout|>8', 4)] },
    'unknown',
    'fine',
    'Provider: only 4 asked in 5 min. Us: fine.',
  ],
  ['all goes well', { lately: well }, 'fine', 'fine', 'Provider: fine. Us: fine.'],
  [
    'a tenth of mints fails',
    { lately: [now('mint', 'openai|ok|≤0.5', 9), now('mint', 'openai|timeout|>8', 1)] },
    'degraded',
    'fine',
    'Provider: 10 % of mints failed in 5 min (timeout, openai). Us: fine.',
  ],
  [
    'fewer fail',
    { lately: [now('mint', 'openai|ok|≤0.5', 91), now('mint', 'openai|timeout|>8', 9)] },
    'fine',
    'fine',
    'Provider: fine. Us: fine.',
  ],
  [
    'mints take twice as long as yesterday',
    { lately: [now('mint', 'openai|ok|≤1', 20)], yesterday: [before('openai|ok|≤0.5', 500)] },
    'degraded',
    'fine',
    'Provider: mints take 0.97 s instead of 0.49 s (p95, openai). Us: fine.',
  ],
  [
    'mints take less than twice as long',
    {
      lately: [now('mint', 'openai|ok|≤1', 19), now('mint', 'openai|ok|≤0.5', 1)],
      yesterday: [before('openai|ok|≤1', 500)],
    },
    'fine',
    'fine',
    'Provider: fine. Us: fine.',
  ],
  [
    'a provider was not asked yesterday',
    { lately: well, yesterday: [before('azure|ok|≤0.125', 9)] },
    'fine',
    'fine',
    'Provider: fine. Us: fine.',
  ],
  [
    'the database is away',
    {
      lately: well,
      dependencies: [
        { name: 'database', state: 'away' },
        { name: 'registry', state: 'ok' },
      ],
    },
    'fine',
    'degraded',
    'Provider: fine. Us: the database is away.',
  ],
  [
    'the database is away, of which it is told without it',
    { lately: null, yesterday: null, isDatabaseRead: false, dependencies: [{ name: 'database', state: 'away' }] },
    'unknown',
    'degraded',
    'Provider: its counts cannot be read. Us: the database is away.',
  ],
  [
    'the database did not answer just now, whatever was seen of it last',
    { lately: well, isDatabaseRead: false, dependencies: [{ name: 'database', state: 'ok' }] },
    'fine',
    'degraded',
    'Provider: fine. Us: the database is away.',
  ],
  [
    'the provider is away, which is not us',
    { lately: well, dependencies: [{ name: 'provider', state: 'away' }] },
    'fine',
    'fine',
    'Provider: fine. Us: fine.',
  ],
  [
    'a loop is late',
    { lately: well, nodes: [{ loopP99Ms: 3 }, { loopP99Ms: 100.6 }] },
    'fine',
    'degraded',
    'Provider: fine. Us: the event loop is 101 ms late (p99).',
  ],
  [
    'a loop is just in time',
    { lately: well, nodes: [{ loopP99Ms: 100 }] },
    'fine',
    'fine',
    'Provider: fine. Us: fine.',
  ],
  [
    'one in 100 requests fails',
    { lately: [...well, now('request', '', 100), now('failed', '', 1)] },
    'fine',
    'degraded',
    'Provider: fine. Us: 1.0 % of 100 requests failed in 5 min.',
  ],
  [
    'fewer requests fail',
    { lately: [...well, now('request', '', 101), now('failed', '', 1)] },
    'fine',
    'fine',
    'Provider: fine. Us: fine.',
  ],
  [
    'events are dropped',
    { lately: [...well, now('dropped', 'event', 7)] },
    'fine',
    'degraded',
    'Provider: fine. Us: 7 events were dropped in 5 min.',
  ],
];

describe('The verdict', () => {
  test.each(cases)('when %s', (_when, observed, provider, us, sentence) => {
    expect(
      judge({ lately: [], yesterday: [], isDatabaseRead: true, nodes: [], dependencies: [], ...observed }),
    ).toEqual({
      provider,
      us,
      sentence,
    });
  });
});
