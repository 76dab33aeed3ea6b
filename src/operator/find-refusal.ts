import type { z } from 'zod';
import { ifAway } from '../kernel/errors.ts';
import { MINUTE_MS, iso } from '../kernel/time.ts';
import type { exactRefusal, refusalMinute } from '../protocol/operator/refusal.ts';
import type { ActivityStore } from '../stores/activity/contract.ts';
import type { NodeRuns } from '../stores/nodes/contract.ts';
import type { Refusals } from '../stores/refusals/contract.ts';
import type { TenantScope } from '../stores/tenants/contract.ts';
import type { RefusalWriter } from './refusal-writer.ts';
import { viewOfRefusal } from './refusal-view.ts';

export interface FindRefusalDeps {
  readonly refusals: Pick<Refusals, 'find'>;
  readonly refusalWriter: Pick<RefusalWriter, 'find' | 'remembered'>;
  readonly nodeRuns: Pick<NodeRuns, 'timeOf'>;
  readonly activity: Pick<ActivityStore, 'refused'>;
}

type Found = z.infer<typeof exactRefusal> | z.infer<typeof refusalMinute>;

/**
 * The refusal of a request, or when the request was made: its id holds the process and the number of the request. Whose that request was is
 * not known then, so that only who sees all tenants is told.
 * @throws Unavailable when the database is away and this process does not remember the refusal
 */
export async function findRefusal(
  requestId: string,
  tenants: TenantScope,
  { refusals, refusalWriter, nodeRuns, activity }: FindRefusalDeps,
): Promise<Found | undefined> {
  const kept = refusalWriter.find(requestId, tenants) ?? (await refusals.find(requestId, tenants));
  if (kept !== undefined) return { found: 'exact', refusal: viewOfRefusal(kept, tenants) };
  const [, prefix, counter] = /^req_([\w-]{8})([0-9a-z]{1,9})$/.exec(requestId) ?? [];
  if (tenants !== '*' || prefix === undefined || counter === undefined) return undefined;
  const time = await nodeRuns.timeOf(prefix, Number.parseInt(counter, 36));
  if (time === undefined) return undefined;
  const { run, fromMs, toMs } = time;
  const first = fromMs - (fromMs % MINUTE_MS);
  // A process that was asked nothing for long has a long minute: more than can be added up is not told.
  const refused = await activity
    .refused(1, first, toMs - (toMs % MINUTE_MS) + MINUTE_MS, { tenants: '*', shard: run.shard })
    .catch(ifAway(() => undefined));
  return {
    found: 'minute',
    node: run.node,
    from: iso(fromMs),
    to: iso(toMs),
    byCode: refused?.counted ?? {},
  };
}
