import { describe, expect, test } from 'vitest';
import { driftsOf } from '../../../src/reconciliation/verdict.ts';
import type { ReconciledDay } from '../../../src/stores/reconciliations/contract.ts';

const row = (model: string, ours: number, theirs: number): ReconciledDay['rows'][number] => ({
  model,
  class: 'audioIn',
  ours,
  theirs,
  microDollars: 0,
  isEqual: ours === theirs,
});

const day = (name: string, upstream: string, rows: ReconciledDay['rows']): ReconciledDay => ({
  day: name,
  upstream,
  rows,
  state: 'explained',
  ourMicroDollars: 0,
  theirMicroDollars: 0,
  estimatedMicroDollars: 0,
  unexplainedMicroDollars: 0,
  drifts: [],
  askedAtMs: 0,
});

describe('By how much the meter drifts', () => {
  test('is the share of the provider’s tokens of a model, on the last day of each provider that has any', () => {
    const days = [
      day('2030-01-03', 'openai', []),
      day('2030-01-02', 'openai', [row('a', 90, 100), row('a', 60, 100), row('b', 5, 0), row('c', 7, 7)]),
      day('2030-01-02', 'azure', [row('a', 11, 10)]),
      day('2030-01-01', 'openai', [row('a', 1, 100)]),
    ];
    expect(driftsOf(days).map(({ labels, value }) => [labels.upstream, labels.model, value])).toEqual([
      ['openai', 'a', -0.25],
      ['openai', 'b', 5],
      ['openai', 'c', 0],
      ['azure', 'a', 0.1],
    ]);
    expect(driftsOf([])).toEqual([]);
  });
});
