import { z } from 'zod';
import { type Operator, within } from '../roles.ts';
import { ifAway } from '../../kernel/errors.ts';
import { DAY_MS, iso, MINUTE_MS } from '../../kernel/time.ts';
import { LONGEST_SPAN_MS, refusedBetween } from '../overview/activity.ts';
import { viewOfRefusal } from '../journal/view.ts';
import {
  exactRefusal,
  type OperatorRefusal,
  operatorRefusalPage,
  refusalFilters,
  refusalMinute,
} from '../../protocol/operator/refusal.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import type { JournalQuery, Journal } from '../../stores/journal/contract.ts';
import type { Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import { operatorRoute } from '../operator-route.ts';
import type { Services } from '../../http/services.ts';
import { journalCursor, pageEnd, readJournalCursor } from '../pagination.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';

const exampleRefusal: OperatorRefusal = {
  requestId: sample.requestId,
  at: '2030-01-01T14:03:07.118Z',
  code: 'RATE_LIMIT_EXCEEDED',
  status: 429,
  layer: 'minute',
  route: '/api/session',
  tenantId: 'acme',
  keyId: 'site',
  subject: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  origin: 'https://www.acme.example',
  addressHash: '1f0c8b7d2a49c3b6',
  network: '203.0.113.0/24',
  limit: 12,
  count: 12,
  retryAfter: 22,
  verdict: null,
  lever: 'WIDGET_SESSION_PER_MIN',
  sentence: 'More than 12 sessions in one minute (WIDGET_SESSION_PER_MIN); the caller was told to wait 22 s.',
  node: 'Jm4c0Vb1T2yq8s5nXk9ZwA',
};

export function refusalsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/refusals',
    operationId: 'listRefusals',
    summary: 'List refused requests with the reasons, or get one by its request id',
    description:
      'With `requestId` the reply is about that request: `found` says whether the refusal was kept, or only the minute of the request is known. Otherwise it is a page, newest first, of a span of at most 31 days; `counted`, `kept` and `series` cover whole minutes or hours, by code, tenant and key, and are empty, with `isCounted` false, if there is too much to add up.',
    query: refusalFilters,
    reply: {
      description: 'The refusal, its minute, or a page',
      schema: z.union([exactRefusal, refusalMinute, operatorRefusalPage]),
      example: { found: 'exact', refusal: exampleRefusal },
    },
    refusals: ['NOT_FOUND', 'QUERY_TOO_BROAD'],
    handle: async (call, query) => {
      const { operator, request } = call;
      if (query.requestId === undefined) return list(query, operator, request.atMs, services);
      const found = await findRefusal(query.requestId, operator.tenants, services);
      return found ?? new Refusal('NOT_FOUND', 'Nothing is known of this request id: it is too old, or none of ours.');
    },
  });
}

type RefusalReply = z.infer<typeof exactRefusal> | z.infer<typeof refusalMinute>;

/**
 * The refusal of a request, or failing that the time of the request, since its id holds the process and the number of the request. In that
 * case it is unknown whose request it was, so only operators who see all tenants are told.
 * @throws Unavailable when the database is away and this process does not remember the refusal
 */
async function findRefusal(
  requestId: string,
  tenants: TenantScope,
  { core }: Services,
): Promise<RefusalReply | undefined> {
  const { journal, requestTimes, activity } = core.stores;
  const kept = core.journal.refusals.find(requestId, tenants) ?? (await findWritten(requestId, tenants, journal));
  if (kept !== undefined) return { found: 'exact', refusal: viewOfRefusal(kept, tenants) };
  const [, prefix, counter] = /^req_([\w-]{8})([0-9a-z]{1,9})$/.exec(requestId) ?? [];
  if (tenants !== '*' || prefix === undefined || counter === undefined) return undefined;
  const [time, started] = await Promise.all([
    requestTimes.of(prefix, Number.parseInt(counter, 36)),
    startOf(prefix, journal),
  ]);
  if (time === undefined || started === undefined) return undefined;
  const { fromMs = started.atMs, toMs } = time;
  const first = fromMs - (fromMs % MINUTE_MS);
  // A process that had no requests for a while has a long "minute"; where that is too much to add up, no counts are returned.
  const refused = await activity
    .refused(1, first, toMs - (toMs % MINUTE_MS) + MINUTE_MS, { tenants: '*', shard: started.detail.shard })
    .catch(ifAway(() => undefined));
  return {
    found: 'minute',
    node: started.node ?? '',
    from: iso(fromMs),
    to: iso(toMs),
    byCode: refused?.counted ?? {},
  };
}

async function findWritten(requestId: string, tenants: TenantScope, journal: Pick<Journal, 'list'>) {
  const { entries } = await journal.list({ kinds: ['refusal'], tenants, requestId }, undefined, 1);
  return entries[0];
}

/** The start of the process whose request ids begin with a prefix. */
async function startOf(target: string, journal: Pick<Journal, 'list'>) {
  const { entries } = await journal.list({ kinds: ['process'], tenants: '*', target, code: 'started' }, undefined, 1);
  return entries[0];
}

async function list(
  { code, tenantId, keyId, network, from, to, cursor, limit }: z.output<typeof refusalFilters>,
  operator: Operator,
  atMs: number,
  services: Services,
): Promise<object> {
  const after = readJournalCursor(cursor);
  if (after instanceof Refusal) return after;
  const toMs = to === undefined ? atMs : Date.parse(to);
  const fromMs = from === undefined ? toMs - DAY_MS : Date.parse(from);
  if (fromMs > toMs) return wrongField('from', 'must not be after to');
  if (toMs - fromMs > LONGEST_SPAN_MS)
    return new Refusal('QUERY_TOO_BROAD', 'A span has at most 31 days here; ask with a later from.');
  const { tenants } = within(operator, tenantId);
  const wanted: JournalQuery<'refusal'> = {
    kinds: ['refusal'],
    tenants,
    fromMs,
    beforeMs: toMs + 1,
    code,
    keyId,
    network,
  };
  try {
    const [page, counts] = await Promise.all([
      services.core.stores.journal.list(wanted, after, limit),
      refusedBetween(services.core.stores.activity, fromMs, toMs, atMs, { tenants, keyId, code }),
    ]);
    const { entries, next } = page;
    return {
      refusals: entries.map((one) => viewOfRefusal(one, operator.tenants)),
      ...toldOf(counts),
      ...pageEnd({ next, isPartial: entries.length < limit }, atMs, journalCursor),
      isPartial: false,
    };
  } catch (fault) {
    return ifAway(() => {
      const refusals = services.core.journal.refusals
        .newest(wanted, limit)
        .map((one) => viewOfRefusal(one, operator.tenants));
      const end = pageEnd({ next: undefined, isPartial: false }, atMs, journalCursor);
      return { refusals, ...toldOf(undefined), ...end, isPartial: true };
    }, 'database')(fault);
  }
}

function toldOf(counts: Awaited<ReturnType<typeof refusedBetween>>) {
  if (counts === undefined) return { counted: {}, kept: {}, series: [], seriesBy: null, isCounted: false };
  const { counted, kept, series, span } = counts;
  return {
    counted,
    kept,
    series: series.map(({ atMs, count }) => ({ at: iso(atMs), count })),
    seriesBy: span === 1 ? 'minute' : 'hour',
    isCounted: true,
  };
}
