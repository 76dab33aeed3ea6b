import type { z } from 'zod';
import { ifAway } from '../../kernel/errors.ts';
import { MINUTE_MS, iso } from '../../kernel/time.ts';
import type { exactRefusal, refusalMinute } from '../../protocol/operator/refusal.ts';
import type { ActivityStore } from '../../stores/activity/contract.ts';
import type { Journal } from '../../stores/journal/contract.ts';
import type { RequestTimes } from '../../stores/request-times/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';
import type { Refusals } from './refusals.ts';
import { viewOfRefusal } from './refusal-view.ts';

export interface FindRefusalDeps {
  readonly journal: Pick<Journal, 'list'>;
  /** Of this process. */
  readonly refusals: Pick<Refusals, 'find' | 'newest'>;
  readonly requestTimes: Pick<RequestTimes, 'of'>;
  readonly activity: Pick<ActivityStore, 'refused'>;
}

type RefusalReply = z.infer<typeof exactRefusal> | z.infer<typeof refusalMinute>;

/**
 * The refusal of a request, or when the request was made: its id holds the process and the number of the request. Whose that request was is
 * not known then, so that only who sees all tenants is told.
 * @throws Unavailable when the database is away and this process does not remember the refusal
 */
export async function findRefusal(
  requestId: string,
  tenants: TenantScope,
  { journal, refusals, requestTimes, activity }: FindRefusalDeps,
): Promise<RefusalReply | undefined> {
  const kept = refusals.find(requestId, tenants) ?? (await written(requestId, tenants, journal));
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
  // A process that was asked nothing for long has a long minute: more than can be added up is not told.
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

async function written(requestId: string, tenants: TenantScope, journal: Pick<Journal, 'list'>) {
  const { entries } = await journal.list({ kinds: ['refusal'], tenants, requestId }, undefined, 1);
  return entries[0];
}

/** The start of the process whose request ids begin with a prefix. */
async function startOf(target: string, journal: Pick<Journal, 'list'>) {
  const { entries } = await journal.list({ kinds: ['process'], tenants: '*', target, code: 'started' }, undefined, 1);
  return entries[0];
}
