import { describe, expect, test } from 'vitest';
import { run, type ReconcileTerminal } from '../../../src/cli/reconcile.ts';
import { NO_TOKENS, type TokenClasses } from '../../../src/protocol/price.ts';
import type { ReconciledDay } from '../../../src/stores/reconciliations/contract.ts';
import { UpstreamFault, type ProviderDay } from '../../../src/upstream/contract.ts';
import { ManualClock } from '../../support/clock.ts';
import { noCauses } from '../../support/no-causes.ts';
import { fakeTerminal } from './terminal.ts';

const DAYS = ['--from', '2030-01-01', '--to', '2030-01-03'];

/** @param read what the provider reports for a day @param ours tokens that were counted here on each day */
function build(read: (fromMs: number) => Promise<ProviderDay>, ours = 1_000_000) {
  const kept: ReconciledDay[] = [];
  const tokens = { ...NO_TOKENS, audioIn: ours };
  const models = [{ model: 'voice', tokens, estimatedMicroDollars: 0 }];
  const counted = {
    models,
    microDollars: ours * 32,
    hasOwnPrices: false,
    isUnclassed: false,
    causes: noCauses,
  };
  const deps = {
    store: {
      counted: () => Promise.resolve(counted),
      claim: () => Promise.resolve(true),
      save: (day: ReconciledDay) => Promise.resolve((kept.push(day), day.drifts)),
      list: () => Promise.resolve(kept),
      readAtMs: () => Promise.resolve(undefined),
      unexplainedAt: () => Promise.resolve(0),
    },
    reader: { upstream: 'openai', providers: ['openai'], read },
    worthOf: (_model: string, { audioIn }: TokenClasses) => audioIn * 32,
    mailTo: [],
    clock: new ManualClock(),
    events: { meterDrifted: () => undefined, dependencyAway: () => undefined },
  };
  const plain = fakeTerminal();
  const terminal: ReconcileTerminal = {
    ...plain,
    openReconciliation: () => Promise.resolve({ deps, close: () => Promise.resolve() }),
  };
  return { terminal, kept, ...plain };
}

const billed = (audioIn: number): ProviderDay => ({
  models: new Map([['voice', { ...NO_TOKENS, audioIn }]]),
  microDollars: audioIn * 32,
});

describe('reconcile', () => {
  test('prints a line a day and is done where both count the same', async () => {
    const { terminal, printed, kept } = build(() => Promise.resolve(billed(1_000_000)));
    expect(await run(DAYS, terminal)).toBe(0);
    expect(printed()).toBe(
      "2030-01-01  equal        ours $32.00, OpenAI's $32.00\n2030-01-02  equal        ours $32.00, OpenAI's $32.00\n",
    );
    expect(kept.map(({ day }) => day)).toEqual(['2030-01-01', '2030-01-02']);
  });

  test('prints what differs, and exits with 3 where nothing explains it', async () => {
    const { terminal, printed } = build(() => Promise.resolve(billed(2_000_000)));
    expect(await run(['--from', '2030-01-01', '--to', '2030-01-02'], terminal)).toBe(3);
    expect(printed()).toBe(
      "2030-01-01  unexplained  ours $32.00, OpenAI's $64.00\n  voice audioIn: ours 1000000, OpenAI's 2000000 (worth $32.00)\n",
    );
  });

  test('says what the provider said, in our words, with exit code 69', async () => {
    const { terminal, complained } = build(() =>
      Promise.reject(new UpstreamFault('refused', 'OpenAI refused the request', { status: 401 })),
    );
    expect(await run(DAYS, terminal)).toBe(69);
    expect(complained()).toBe('OpenAI refused the request, status 401\n');
  });

  test.each<[args: string[], words: string]>([
    [[], '--from must be a day such as 2030-01-31'],
    [['--from', '2030-02-30', '--to', '2030-03-01'], '--from must be a day such as 2030-01-31'],
    [['--from', '2030-01-02', '--to', '2030-01-02'], '--from must be a day before --to'],
    [['--from', '2030-01-01', '--to', '2030-03-01'], 'at most 31 days at once'],
    [['--day', '2030-01-01'], "'--day'"],
  ])('refuses %j', async (args, words) => {
    const { terminal, complained } = build(() => Promise.resolve(billed(0)));
    expect(await run(args, terminal)).toBe(64);
    expect(complained()).toContain(words);
  });

  test('says which key it wants where there is none', async () => {
    const { terminal, complained } = build(() => Promise.resolve(billed(0)));
    const without = {
      ...terminal,
      openReconciliation: async () => ({ deps: undefined, close: async () => undefined }),
    };
    expect(await run(DAYS, without)).toBe(64);
    expect(complained()).toContain('set OPENAI_ADMIN_KEY');
  });
});
