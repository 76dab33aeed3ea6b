import { begun } from '../../exports/text.ts';
import type { Call, Result, Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { DAY_MS, SECOND_MS } from '../../kernel/time.ts';
import { whatIfReply, whatIfRequest, type WhatIfReply, type WhatIfRequest } from '../../protocol/operator/what-if.ts';
import { mustWait, Refusal, wrongField } from '../../protocol/refusal.ts';
import { faultOfBudget, toNewBudget } from '../../tenants/change-budgets.ts';
import { noKey } from '../keys/routes.ts';
import { actBy, findTenant, operatorAnswerRoute } from '../operator-route.ts';
import { MAX_DAYS, prepareReplay, type PreparedReplay } from './prepare.ts';

const PER_MINUTE = 20;
/** Replays at once: each holds two pages and the sums of its rules. */
const MAX_AT_ONCE = 2;
/** Pages before anything is sent, so that an early failure gets the usual error reply. */
const QUIET_PAGES = 10;

const example: WhatIfReply = {
  from: '2030-01-01T00:00:00.000Z',
  to: '2030-01-08T00:00:00.000Z',
  creates: { total: 1911, refused: 12, byCode: { DAILY_QUOTA_EXCEEDED: 12 } },
  ended: 3,
  dollars: { actual: 310.2, replayed: 298.7 },
  notReplayed: [
    'Creates that were refused at the time, by a limit, a bot verdict or an address, are not among those replayed: what they would have used is not known.',
  ],
};

export function whatIfRoute(services: Services): Route {
  let running = 0;
  return operatorAnswerRoute({
    method: 'POST',
    path: '/api/operator/what-if',
    operationId: 'replayChange',
    summary: 'Replay the past with other limits or ceilings, or another budget',
    description: `Replays the sessions and usage of at most ${MAX_DAYS} days by the current rules; nothing is changed. A slow reply begins with spaces. A process runs ${MAX_AT_ONCE} at once. If the database fails meanwhile, the reply breaks off.`,
    body: whatIfRequest,
    bodyExample: {
      from: '2030-01-01T00:00:00Z',
      to: '2030-01-08T00:00:00Z',
      tenantId: 'acme',
      change: { keyId: 'site', totals: { dollarsDaily: 40 } },
    },
    perOperator: { name: 'what-if', perMinute: PER_MINUTE },
    replies: { 200: { description: 'The result of the replay', schema: whatIfReply, example } },
    refusals: ['NOT_FOUND', 'QUERY_TOO_BROAD'],
    async handle(call): Promise<Result> {
      const asked = await toReplay(call, services);
      if (asked instanceof Refusal) return asked;
      const { atMs } = call.request;
      if (running >= MAX_AT_ONCE) return mustWait(`${MAX_AT_ONCE} replays run already`, atMs + 10 * SECOND_MS, atMs);
      running += 1;
      const parts = textOf(asked, call.request.signal(), () => (running -= 1));
      return { status: 200, body: '', isJson: true, parts: await begun(parts) };
    },
  });
}

/** Sends spaces while the replay runs, then the reply. Stops reading when the client disconnects. */
async function* textOf(
  { pages, toReply }: PreparedReplay,
  signal: AbortSignal,
  onOver: () => void,
): AsyncGenerator<string> {
  try {
    let read = 0;
    for await (const _ of pages) {
      if (signal.aborted) return;
      read += 1;
      if (read > QUIET_PAGES) yield read % QUIET_PAGES === 0 ? ' ' : '';
    }
    yield JSON.stringify(toReply());
  } finally {
    onOver();
  }
}

async function toReplay(call: Call<WhatIfRequest>, services: Services): Promise<PreparedReplay | Refusal> {
  const { from, to, tenantId, change } = call.body;
  if (from >= to) return wrongField('from', 'must be before to');
  if (to - from > MAX_DAYS * DAY_MS) return new Refusal('QUERY_TOO_BROAD', `A replay has at most ${MAX_DAYS} days.`);
  const tenant = await findTenant(call.operator, tenantId, services);
  if (tenant instanceof Refusal) return tenant;
  const { keyId, budget } = change;
  if (keyId !== undefined && !tenant.keys.some(({ id }) => id === keyId)) return noKey(tenantId, keyId);
  const fault = budget && faultOfBudget(budget.of, tenant);
  if (fault !== undefined) return wrongField('change.budget.of', fault);
  const { atMs } = call.request;
  const wished = budget && toNewBudget(tenantId, budget, actBy(call).role, atMs);
  return prepareReplay(call.body, tenant, wished, atMs, services, services.operators.replayMemory());
}
