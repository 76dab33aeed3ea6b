import { beforeAll, describe, expect, test } from 'vitest';
import type { ReconciledDay } from '../../src/stores/reconciliations/contract.ts';
import { service, type TestApp } from '../support/app.ts';
import { noCauses } from '../support/no-causes.ts';
import { useApps } from '../support/use-apps.ts';

const { build, buildForFile } = useApps();
const PATH = '/api/operator/reconciliation';

let app: TestApp;
beforeAll(async () => {
  app = await buildForFile();
});

function reconciled(day: string): ReconciledDay {
  return {
    day,
    upstream: 'openai',
    state: 'unexplained',
    rows: [{ model: 'gpt-realtime', class: 'audioIn', ours: 100, theirs: 200, microDollars: 3200, isEqual: false }],
    ourMicroDollars: 3200,
    theirMicroDollars: null,
    estimatedMicroDollars: 0,
    unexplainedMicroDollars: 3200,
    drifts: [{ model: 'gpt-realtime', microDollars: 3200 }],
    causes: {
      ...noCauses,
      gapCalls: 2,
      gaps: [{ call: 'call_kX2vQ9mB4tYw7nLcR1sZ0A', microDollars: 310_000 }],
      repriced: [{ model: 'gpt-realtime', versions: ['2029-11-01', '2030-01-01'] }],
      unconfirmedCalls: 1,
    },
    askedAtMs: Date.parse('2030-01-02T06:00:00Z'),
  };
}

describe('What was counted, compared with what the provider reports,', () => {
  test('is shown for the last 31 days, newest first, in dollars', async () => {
    for (const day of ['2029-12-01', '2029-12-02', '2030-01-01'])
      await app.service.stores.reconciliations.save(reconciled(day), []);
    const { body } = await app.get(PATH, service);
    expect(body).toEqual({
      enabled: false,
      isOfProject: false,
      days: ['2030-01-01', '2029-12-02'].map((day) => ({
        day,
        upstream: 'openai',
        state: 'unexplained',
        rows: [{ model: 'gpt-realtime', class: 'audioIn', ours: 100, theirs: 200, dollars: 0.0032, equal: false }],
        dollars: { ours: 0.0032, theirs: null, estimated: 0, unexplained: 0.0032 },
        causes: {
          gapCalls: 2,
          gaps: [{ call: 'call_kX2vQ9mB4tYw7nLcR1sZ0A', dollars: 0.31 }],
          unpriced: [],
          repriced: [{ model: 'gpt-realtime', versions: ['2029-11-01', '2030-01-01'] }],
          directSessions: 0,
          unconfirmedCalls: 1,
        },
        askedAt: '2030-01-02T06:00:00.000Z',
      })),
    });
  });

  test('has no causes on days that an earlier version compared, and says whether others’ usage is in it', async () => {
    const { causes: _, ...former } = reconciled('2030-01-01');
    await app.service.stores.reconciliations.save(former, []);
    const { body } = await app.get(PATH, service);
    expect([body['isOfProject'], (body['days'] as object[])[0]]).toMatchObject([
      false,
      { day: '2030-01-01', causes: null },
    ]);
    const project = await build({ env: { OPENAI_PROJECT: 'proj_voice' } });
    expect((await project.get(PATH, service)).body).toMatchObject({ isOfProject: true });
  });
});
