import type { AgentSettings } from '../../protocol/agent.ts';
import type { CallMode, DataChannel } from '../../protocol/call.ts';
import type { ElementSettings } from '../../protocol/element-settings.ts';
import type { KeyBots } from '../../protocol/key-bots.ts';
import type { ModelPrice } from '../../protocol/price.ts';
import type { ActRole } from '../journal/act-contract.ts';

/** Some tenants, or `*`: all of them, and what is of none. */
export type TenantScope = '*' | readonly string[];

/** Whether what is of a tenant, or of none (null), is of the scope. */
export function covers(scope: TenantScope, tenantId: string | null): boolean {
  return scope === '*' || (tenantId !== null && scope.includes(tenantId));
}

export interface Agent extends AgentSettings {
  readonly id: string;
  /** What LiveKit calls the agent that it sends to rooms of its sessions; without it those come that ask for every room. */
  readonly agentName?: string | undefined;
  /** How the calls of its sessions are opened, where the key does not say; without either CALL_MODE holds. */
  readonly call?: CallMode | undefined;
  /** Of brokered calls, where the key does not say; without either it is `open`. */
  readonly dataChannel?: DataChannel | undefined;
  /** Of its model; without one the list of prices holds. */
  readonly price?: ModelPrice | undefined;
  /** How the element of a page looks and speaks for it; its sessions are the same with another. */
  readonly element?: ElementSettings | undefined;
  /** What its provider cannot do of it is an error, no warning. */
  readonly strict?: boolean | undefined;
  /** Calls of its server tools in one session, together; without it 50. */
  readonly toolsPerSession?: number | undefined;
}

/** What a widget key overrides of the WIDGET_* limits. */
export interface KeyOverrides {
  readonly sessionsPerMinute?: number | undefined;
  readonly dailyTokens?: number | undefined;
  readonly dailyDollars?: number | undefined;
  readonly concurrentSessions?: number | undefined;
}

/** The limits of a widget key for each of its visitors. */
export interface KeyLimits extends KeyOverrides {
  /** How long a session of a new visitor lasts before words of the visitor were heard (docs/contract.md, section 4.5). */
  readonly newVisitorSeconds?: number | undefined;
}

/** Ceilings over all subjects of a widget key together, or of all keys of a tenant; one that is left out does not exist. */
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
  /** Pins the key to these agents; null is any. */
  readonly agents: readonly string[] | null;
  readonly allowOverrides: boolean;
  /** How the calls of its sessions are opened; null is as the agent or CALL_MODE says. */
  readonly call: CallMode | null;
  /** Of brokered calls; null is as the agent says. */
  readonly dataChannel: DataChannel | null;
  /** For each subject. */
  readonly limits: KeyLimits;
  readonly totals: KeyTotals;
  /** How its callers are challenged, where that is not as the installation says. */
  readonly bots?: KeyBots | undefined;
  /** Opens no sessions until it is resumed; null is in use. Only `pause` and `resume` change it. */
  readonly pausedAtMs: number | null;
  /** Revocation is one-way. */
  readonly revokedAtMs: number | null;
}

/** What the admins of a tenant may do beside what every admin may: set limits above those of the installation, direct calls, and words for agents. */
export const ADMIN_RIGHTS = ['limits', 'direct', 'whisper'] as const;

export type AdminRight = (typeof ADMIN_RIGHTS)[number];

/** A webhook as the tenants file names it; the database has it as an endpoint (`stores/webhooks`). */
export interface TenantWebhook {
  /** Unique in its tenant. */
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  /** When it was read. */
  readonly createdAtMs: number;
}

/** A customer, whole: an object that is never changed, so that a changed tenant is another object. */
export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly agents: readonly Agent[];
  /** The only console users for this tenant; null is every console user. */
  readonly admins: readonly string[] | null;
  readonly adminsMay?: readonly AdminRight[] | undefined;
  /** Over all its keys together. */
  readonly totals?: KeyTotals | undefined;
  /** How many keys it may have that are not revoked; any number without it. */
  readonly maxKeys?: number | undefined;
  /** Of a tenant that was read from the file. */
  readonly webhooks?: readonly TenantWebhook[] | undefined;
  readonly keys: readonly WidgetKey[];
}

/** An emergency stop: while it is there no session is opened, and those that were open are ended. */
export interface Stop {
  /** Null for the whole installation. */
  readonly tenantId: string | null;
  readonly atMs: number;
  /** Who stopped it, as the journal names who acts. */
  readonly actor: string;
  readonly role: ActRole;
  readonly reason: string | null;
}

/** When a key is changed, and by whom: what is told of it. */
export interface KeyChange {
  readonly atMs: number;
  /** The role of who changes it, or the tenants file. */
  readonly by: ActRole | 'file';
  readonly reason: string | null;
}

export class KeyTaken extends Error {}

/** The tenant would have more keys than its `maxKeys`. */
export class TooManyKeys extends Error {}

/** Tenants and their widget keys: the database is the truth. @throws Unavailable when the database is away. */
export interface Tenants {
  all(): Promise<Tenant[]>;
  /**
   * Merges tenants, keys and webhooks in one transaction: adds and changes, never deletes, and undoes no revocation and no pause.
   * @throws KeyTaken when a key belongs to another tenant or to another id, an id has another key already (issue the new key under a
   *   new id, so that both serve while sites change over), or a key is given twice; then nothing is changed.
   */
  merge(tenants: readonly Tenant[]): Promise<void>;
  /**
   * Adds keys of one tenant, all of them or none.
   * @throws KeyTaken when an id or a key is in use, TooManyKeys when the tenant may not have so many
   * @returns false when the tenant is unknown
   */
  issue(keys: readonly WidgetKey[], change: KeyChange): Promise<boolean>;
  /** Revokes by tenant and id; undefined when there is no such key. A key that is revoked already keeps its time, and nothing is told of it. */
  revoke(tenantId: string, keyId: string, change: KeyChange): Promise<WidgetKey | undefined>;
  /** Pauses as `revoke` revokes. A key that is revoked stays as it is. */
  pause(tenantId: string, keyId: string, change: KeyChange): Promise<WidgetKey | undefined>;
  /** Undoes a pause; undefined when there is no such key. */
  resume(tenantId: string, keyId: string): Promise<WidgetKey | undefined>;
  /** The stops that are not lifted, that of the installation first. */
  stops(): Promise<readonly Stop[]>;
  /**
   * @returns the stop that holds: an earlier one stays as it is, but for one of a tenant's admin, whose place that of anybody else takes:
   *   what stops a tenant is lifted by whoever may lift the stop that holds
   */
  addStop(stop: Stop): Promise<Stop>;
  /** @returns whether there was one. @param tenantId null for that of the installation, which leaves those of tenants as they are */
  liftStop(tenantId: string | null): Promise<boolean>;
}
