import type { AgentSettings } from '../../protocol/agent.ts';
import type { CallMode, DataChannel } from '../../protocol/call.ts';
import type { ElementSettings } from '../../protocol/element-settings.ts';
import type { KeyBots } from '../../protocol/challenge.ts';
import type { ModelPrice } from '../../protocol/price.ts';
import type { FileBudgets } from '../budgets/budget-contract.ts';
import type { ActRole } from '../journal/act-contract.ts';
import { MAX_BUDGETS } from '../../protocol/budget.ts';
import { MAX_ENDPOINTS } from '../../protocol/webhook.ts';

/** Some tenants, or `*`: all tenants, and what belongs to none. */
export type TenantScope = '*' | readonly string[];

/** Whether the scope covers what belongs to a tenant, or to none (null). */
export function covers(scope: TenantScope, tenantId: string | null): boolean {
  return scope === '*' || (tenantId !== null && scope.includes(tenantId));
}

export interface Agent extends AgentSettings {
  readonly id: string;
  /** The name by which LiveKit knows the agent that it sends to rooms of its sessions; without it, agents that ask for every room come. */
  readonly agentName?: string | undefined;
  /** How the calls of its sessions are opened, unless the key says; if neither does, CALL_MODE applies. */
  readonly call?: CallMode | undefined;
  /** For brokered calls, unless the key says; if neither does, it is `open`. */
  readonly dataChannel?: DataChannel | undefined;
  /** The price of its model; without one the price list applies. */
  readonly price?: ModelPrice | undefined;
  /** How the element on a page looks and speaks for it; it makes no difference to its sessions. */
  readonly element?: ElementSettings | undefined;
  /** Whatever its provider cannot do is an error, not a warning. */
  readonly strict?: boolean | undefined;
  /** How many calls of server tools one session may make in all; 50 if not given. */
  readonly toolsPerSession?: number | undefined;
}

/** The WIDGET_* limits that a widget key overrides. */
export interface KeyOverrides {
  readonly sessionsPerMinute?: number | undefined;
  readonly dailyTokens?: number | undefined;
  readonly dailyDollars?: number | undefined;
  readonly concurrentSessions?: number | undefined;
}

/** The limits of a widget key for each of its visitors. */
export interface KeyLimits extends KeyOverrides {
  /** How long a session of a new visitor lasts until words of the visitor are heard (docs/contract.md, section 4.5). */
  readonly newVisitorSeconds?: number | undefined;
}

/** Ceilings over all subjects of a widget key, or over all keys of a tenant; one that is left out does not apply. */
export interface KeyTotals {
  readonly sessionsPerMinute?: number | undefined;
  readonly concurrentSessions?: number | undefined;
  readonly tokensDaily?: number | undefined;
  readonly dollarsDaily?: number | undefined;
}

/** The public name of a website, bound to one origin. */
export interface WidgetKey {
  /** Label identifier, unique in its tenant. */
  readonly id: string;
  readonly tenantId: string;
  /** A public identifier, not a secret. */
  readonly key: string;
  readonly origin: string;
  readonly label: string;
  /** Restricts the key to these agents; null: any agent. */
  readonly agents: readonly string[] | null;
  readonly allowOverrides: boolean;
  /** How the calls of its sessions are opened; null: as the agent or CALL_MODE says. */
  readonly call: CallMode | null;
  /** For brokered calls; null: as the agent says. */
  readonly dataChannel: DataChannel | null;
  /** For each subject. */
  readonly limits: KeyLimits;
  readonly totals: KeyTotals;
  /** How its callers are challenged, if that differs from the installation. */
  readonly bots?: KeyBots | undefined;
  /** When the key was paused: it opens no sessions until it is resumed. Null while it is in use. Only `pause` and `resume` change it. */
  readonly pausedAtMs: number | null;
  /** Revocation is one-way. */
  readonly revokedAtMs: number | null;
}

/** What the admins of a tenant may do beyond what every admin may: limits above those of the installation, direct calls, and words for agents. */
export const ADMIN_RIGHTS = ['limits', 'direct', 'whisper'] as const;

export type AdminRight = (typeof ADMIN_RIGHTS)[number];

/** A webhook as the tenants file names it; in the database it is an endpoint (`stores/webhooks`). */
export interface TenantWebhook {
  /** Unique in its tenant. */
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  /** When the file was read. */
  readonly createdAtMs: number;
}

/** A customer with everything that belongs to it. The object never changes: a changed tenant is another object. */
export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly agents: readonly Agent[];
  /** The only console users for this tenant; null: every console user. */
  readonly admins: readonly string[] | null;
  readonly adminsMay?: readonly AdminRight[] | undefined;
  /** Over all its keys together. */
  readonly totals?: KeyTotals | undefined;
  /** How many keys that are not revoked it may have; any number if not given. */
  readonly maxKeys?: number | undefined;
  /** Only in a tenant that was read from the file. */
  readonly webhooks?: readonly TenantWebhook[] | undefined;
  readonly keys: readonly WidgetKey[];
}

/** An emergency stop: while it holds no session is opened, and sessions that were open are ended. */
export interface Stop {
  /** Null for the whole installation. */
  readonly tenantId: string | null;
  readonly atMs: number;
  /** Who stopped it, named as in the journal. */
  readonly actor: string;
  readonly role: ActRole;
  readonly reason: string | null;
}

/** When, by whom and why a key is changed: this is told about the change. */
export interface KeyChange {
  readonly atMs: number;
  /** The role of the person who changes it, or the tenants file. */
  readonly by: ActRole | 'file';
  readonly reason: string | null;
}

export class KeyTaken extends Error {}

/** The tenant would have more keys than its `maxKeys`. */
export class TooManyKeys extends Error {}

/** How a file's tenants are merged. */
export interface MergeOptions {
  /** Whether the file has more tenants than these; otherwise it no longer names the webhooks of others. */
  readonly isPart?: boolean;
  /** Those of the file; left alone if not given. */
  readonly budgets?: FileBudgets;
}

/** Tenants and their widget keys: the database is the truth. @throws Unavailable when the database is away. */
export interface Tenants {
  all(): Promise<Tenant[]>;
  /**
   * Merges tenants, keys, webhooks and budgets in one transaction: adds and changes, never deletes, and undoes no revocation and no pause. Of budgets
   * it changes those that the file itself has changed since the last merge: changes made elsewhere stay. Those that it no longer names stay too, and may
   * then be deleted.
   * @throws KeyTaken when a key belongs to another tenant or to another id, an id has another key already (issue the new key under a
   *   new id, so that both serve while sites change over), or a key is given twice; TooManyInFile when webhooks or budgets that it adds would be
   *   more than a tenant may have. Then nothing is changed.
   */
  merge(tenants: readonly Tenant[], how?: MergeOptions): Promise<void>;
  /**
   * Adds keys of one tenant, all of them or none.
   * @throws KeyTaken if an id or a key is in use, TooManyKeys if the tenant may not have that many
   * @returns false if the tenant is unknown
   */
  issue(keys: readonly WidgetKey[], change: KeyChange): Promise<boolean>;
  /** Revokes by tenant and id; undefined if there is no such key. A key that is already revoked keeps its time, and webhooks are not told again. */
  revoke(tenantId: string, keyId: string, change: KeyChange): Promise<WidgetKey | undefined>;
  /** Pauses as `revoke` revokes. A revoked key stays as it is. */
  pause(tenantId: string, keyId: string, change: KeyChange): Promise<WidgetKey | undefined>;
  /** Undoes a pause; undefined if there is no such key. */
  resume(tenantId: string, keyId: string): Promise<WidgetKey | undefined>;
  /** The stops that hold, that of the installation first. */
  stops(): Promise<readonly Stop[]>;
  /**
   * @returns the stop that holds. An earlier stop stays as it is, unless an admin of the tenant made it and somebody else makes this one: then this
   *   one replaces it, because an admin may lift only stops by admins
   */
  addStop(stop: Stop): Promise<Stop>;
  /** Lifts a stop. @returns whether there was one @param tenantId null for the installation's stop; stops of tenants then stay as they are */
  liftStop(tenantId: string | null): Promise<boolean>;
}

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
