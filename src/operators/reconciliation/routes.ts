import type { Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { DAY_MS, iso } from '../../kernel/time.ts';
import { reconciliationReply, type OperatorReconciledDay } from '../../protocol/operator/reconciliation.ts';
import type { Causes, ReconciledDay } from '../../stores/reconciliations/contract.ts';
import { exampleCall } from '../calls/routes.ts';
import { operatorRoute } from '../operator-route.ts';

const DAYS = 31;

const example: OperatorReconciledDay = {
  day: '2030-01-01',
  upstream: 'openai',
  state: 'explained',
  rows: [{ model: 'gpt-realtime', class: 'audioIn', ours: 98_000, theirs: 104_000, dollars: 0.192, equal: false }],
  dollars: { ours: 12.4, theirs: 12.6, estimated: 0.31, unexplained: 0 },
  causes: {
    gapCalls: 1,
    gaps: [{ call: exampleCall.ref, dollars: 0.31 }],
    unpriced: [],
    repriced: [],
    directSessions: 0,
    unconfirmedCalls: 0,
  },
  askedAt: '2030-01-02T06:00:00.000Z',
};

export function reconciliationRoute({ core: { config, stores } }: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/reconciliation',
    operationId: 'getReconciliation',
    summary: 'Compare what Switchboard counted in the last 31 days with what the provider reports',
    description:
      'Newest day first. Each day is compared every night until it is three days old; nothing is ever corrected as a result.',
    right: 'see-installation',
    reply: {
      description: 'The days',
      schema: reconciliationReply,
      example: { enabled: true, isOfProject: true, days: [example] },
    },
    handle: async ({ request: { atMs } }) => {
      const dayAt = (ms: number): string => iso(ms).slice(0, 10);
      const days = await stores.reconciliations.list(dayAt(atMs - DAYS * DAY_MS), dayAt(atMs));
      return {
        enabled: config.reconciliation.adminKey !== undefined,
        isOfProject: config.upstream.openAiProject !== undefined,
        days: days.map(toOperatorDay),
      };
    },
  });
}

function toOperatorDay(reconciled: ReconciledDay): OperatorReconciledDay {
  const { day, upstream, state, rows, causes, askedAtMs } = reconciled;
  const { ourMicroDollars, theirMicroDollars, estimatedMicroDollars, unexplainedMicroDollars } = reconciled;
  return {
    day,
    upstream,
    state,
    rows: rows.map(({ model, class: of, ours, theirs, microDollars, isEqual }) => {
      return { model, class: of, ours, theirs, dollars: inDollars(microDollars), equal: isEqual };
    }),
    dollars: {
      ours: ourMicroDollars / 1_000_000,
      theirs: inDollars(theirMicroDollars),
      estimated: estimatedMicroDollars / 1_000_000,
      unexplained: unexplainedMicroDollars / 1_000_000,
    },
    causes: causes === undefined ? null : toOperatorCauses(causes),
    askedAt: iso(askedAtMs),
  };
}

function toOperatorCauses({ gaps, unpriced, repriced, ...counts }: Causes): OperatorReconciledDay['causes'] {
  return {
    ...counts,
    gaps: gaps.map(({ call, microDollars }) => ({ call, dollars: microDollars / 1_000_000 })),
    unpriced: [...unpriced],
    repriced: repriced.map(({ model, versions }) => ({ model, versions: [...versions] })),
  };
}

function inDollars(microDollars: number | null): number | null {
  return microDollars === null ? null : microDollars / 1_000_000;
}
