import type { ActResult } from '../../../src/stores/journal/act-contract.ts';
import type { ActInput, ActLog, NewEntry } from '../../../src/stores/journal/contract.ts';
import type { BusMessage } from '../../../src/protocol/bus.ts';
import type { Bus, BusListener, BusListeners } from '../../../src/stores/bus/contract.ts';
import { listenerOf } from '../../../src/stores/in-process.ts';
import type { KeyChange, Stop, Tenant, Tenants, WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';

export function aKey(tenantId: string, id: string, more: Partial<WidgetKey> = {}): WidgetKey {
  return {
    id,
    tenantId,
    key: `w_${tenantId}_${id}`,
    origin: `https://${id}.${tenantId}.example`,
    label: '',
    agents: null,
    allowOverrides: true,
    call: null,
    dataChannel: null,
    limits: {},
    totals: {},
    pausedAtMs: null,
    revokedAtMs: null,
    ...more,
  };
}

export function aTenant(id: string, more: Partial<Tenant> = {}): Tenant {
  return { id, name: id, agents: [], admins: null, keys: [], ...more };
}

/** Tenants in memory, whose merge keeps the contract: it adds and changes, but never deletes and never undoes a revocation. */
export class FakeTenants implements Tenants {
  tenants: Tenant[];
  isAway = false;
  mergeFault: Error | undefined;
  loads = 0;
  /** The tenants given to the last merge. */
  lastMerged: readonly Tenant[] = [];

  constructor(...tenants: Tenant[]) {
    this.tenants = tenants;
  }

  all(): Promise<Tenant[]> {
    this.loads += 1;
    return this.isAway ? Promise.reject(new Unavailable('database')) : Promise.resolve(this.tenants);
  }

  merge(given: readonly Tenant[]): Promise<void> {
    if (this.isAway) return Promise.reject(new Unavailable('database'));
    if (this.mergeFault) return Promise.reject(this.mergeFault);
    this.lastMerged = given;
    const others = this.tenants.filter(({ id }) => !given.some((tenant) => tenant.id === id));
    this.tenants = [...others, ...given.map((tenant) => ({ ...tenant, keys: this.#mergeKeys(tenant) }))];
    return Promise.resolve();
  }

  #mergeKeys({ id, keys }: Tenant): WidgetKey[] {
    const known = this.tenants.find((tenant) => tenant.id === id)?.keys ?? [];
    const kept = known.filter((key) => !keys.some((one) => one.id === key.id));
    const merged = keys.map((key) => {
      const before = known.find((one) => one.id === key.id)?.revokedAtMs ?? null;
      return { ...key, revokedAtMs: before ?? key.revokedAtMs };
    });
    return [...kept, ...merged];
  }

  issue(keys: readonly WidgetKey[]): Promise<boolean> {
    this.tenants = this.tenants.map((tenant) => ({
      ...tenant,
      keys: [...tenant.keys, ...keys.filter(({ tenantId }) => tenantId === tenant.id)],
    }));
    return Promise.resolve(this.tenants.some(({ id }) => id === keys[0]?.tenantId));
  }

  revoke(tenantId: string, keyId: string, { atMs }: KeyChange): Promise<WidgetKey | undefined> {
    return this.#change(tenantId, keyId, (key) => ({ ...key, revokedAtMs: key.revokedAtMs ?? atMs }));
  }

  pause(tenantId: string, keyId: string, { atMs }: KeyChange): Promise<WidgetKey | undefined> {
    return this.#change(tenantId, keyId, (key) =>
      key.revokedAtMs === null ? { ...key, pausedAtMs: key.pausedAtMs ?? atMs } : key,
    );
  }

  resume(tenantId: string, keyId: string): Promise<WidgetKey | undefined> {
    return this.#change(tenantId, keyId, (key) => ({ ...key, pausedAtMs: null }));
  }

  readonly #stops = new Map<string | null, Stop>();

  stops(): Promise<readonly Stop[]> {
    return this.isAway ? Promise.reject(new Unavailable('database')) : Promise.resolve([...this.#stops.values()]);
  }

  addStop(stop: Stop): Promise<Stop> {
    const before = this.#stops.get(stop.tenantId) ?? stop;
    const kept = before.role === 'tenant_admin' && stop.role !== 'tenant_admin' ? stop : before;
    this.#stops.set(stop.tenantId, kept);
    return Promise.resolve(kept);
  }

  liftStop(tenantId: string | null): Promise<boolean> {
    return Promise.resolve(this.#stops.delete(tenantId));
  }

  #change(tenantId: string, keyId: string, to: (key: WidgetKey) => WidgetKey): Promise<WidgetKey | undefined> {
    this.tenants = this.tenants.map((tenant) => ({
      ...tenant,
      keys: tenant.keys.map((key) => (tenant.id === tenantId && key.id === keyId ? to(key) : key)),
    }));
    const tenant = this.tenants.find(({ id }) => id === tenantId);
    return Promise.resolve(tenant?.keys.find(({ id }) => id === keyId));
  }
}

export const noBudgets = { all: async () => [] };

/** A bus that also keeps what was published. */
export class FakeBus implements Bus {
  readonly published: BusMessage[] = [];
  readonly isConnected = true;
  readonly #listeners = new Set<BusListener>();

  publish(message: BusMessage): void {
    this.published.push(message);
    for (const listener of this.#listeners) listener(message, true);
  }

  subscribe(listen: BusListener | BusListeners): () => void {
    const listener = listenerOf(listen);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onGap(): () => void {
    return () => undefined;
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

/** Keeps acts as flat rows, and their results once they are known. */
export class FakeActs implements ActLog {
  readonly rows: (ActInput & { result?: ActResult })[] = [];
  readonly #ids: string[] = [];

  append(entries: readonly NewEntry[]): Promise<void> {
    for (const entry of entries) {
      if (entry.kind !== 'act') continue;
      const { id, atMs, requestId, code, of, detail } = entry;
      const { actor = '', target = '', tenantId = null, batchId = null } = of;
      const { role, reason } = detail;
      this.#ids.push(id);
      this.rows.push({ atMs, actor, role: role ?? 'cli', action: code, target, tenantId, reason, requestId, batchId });
    }
    return Promise.resolve();
  }

  settle(ids: readonly string[], result: ActResult): Promise<void> {
    for (const id of ids) Object.assign(this.rows[this.#ids.indexOf(id)] ?? {}, { result });
    return Promise.resolve();
  }
}

/** A callback that tests can await: `next()` resolves with the first call that has not been taken yet. */
export function recorder<T>(): {
  readonly call: (value: T) => void;
  readonly next: () => Promise<T>;
  readonly calls: T[];
} {
  const calls: T[] = [];
  const waiting: ((value: T) => void)[] = [];
  let taken = 0;
  return {
    calls,
    call(value) {
      calls.push(value);
      waiting.shift()?.(value);
    },
    next() {
      taken += 1;
      const ready = calls[taken - 1];
      return calls.length >= taken ? Promise.resolve(ready as T) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}
