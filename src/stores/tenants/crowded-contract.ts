import { MAX_BUDGETS } from '../../protocol/budget.ts';
import { MAX_ENDPOINTS } from '../../protocol/webhook.ts';

/** How many of each a tenant may have (docs/contract.md, sections 3 and 3.1). */
export const MOST = { webhooks: MAX_ENDPOINTS, budgets: MAX_BUDGETS } as const;

/** What the tenants file adds for tenants, and others may add too. */
export type Added = keyof typeof MOST;

/** One of them. `tenantId`: null for the installation. */
export interface Owned {
  readonly tenantId: string | null;
  readonly id: string;
}

/** A tenant, or the installation (null), with too many of something, once those that the tenants file adds are there. */
export interface CrowdedTenant {
  readonly tenantId: string | null;
  /** Those that the file names. */
  readonly named: number;
  /** Those that it has besides: they were added elsewhere, or the file named them before. */
  readonly others: number;
}

/** Tenants would have more of something than they may. */
export class TooManyInFile extends Error {
  readonly what: Added;
  readonly crowded: readonly CrowdedTenant[];

  constructor(what: Added, crowded: readonly CrowdedTenant[]) {
    super(`too many ${what} of ${crowded.map(({ tenantId }) => tenantId ?? 'the installation').join(', ')}`);
    this.what = what;
    this.crowded = crowded;
  }
}

/**
 * Tenants of a file that would have more than they may, once those that it adds are there. One to which it adds none is left as it is.
 * @param named those that the file names
 * @param kept those that there are
 */
export function findCrowded(what: Added, named: readonly Owned[], kept: readonly Owned[]): readonly CrowdedTenant[] {
  const [namedOf, keptOf] = [idsByTenant(named), idsByTenant(kept)];
  return [...namedOf].flatMap(([tenantId, names]) => {
    const ids = keptOf.get(tenantId) ?? new Set();
    const added = [...names].filter((id) => !ids.has(id)).length;
    if (added === 0 || ids.size + added <= MOST[what]) return [];
    return [{ tenantId, named: names.size, others: ids.size + added - names.size }];
  });
}

/** @throws TooManyInFile where `findCrowded` finds tenants */
export function refuseCrowded(...these: Parameters<typeof findCrowded>): void {
  const crowded = findCrowded(...these);
  if (crowded.length > 0) throw new TooManyInFile(these[0], crowded);
}

function idsByTenant(all: readonly Owned[]): ReadonlyMap<string | null, ReadonlySet<string>> {
  const idsOf = new Map<string | null, Set<string>>();
  for (const { id, tenantId } of all) idsOf.set(tenantId, (idsOf.get(tenantId) ?? new Set()).add(id));
  return idsOf;
}
