import { matchesEmailList } from '../protocol/email.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Why } from '../protocol/errors/error-row.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import type { Budget, Budgets } from '../stores/budgets/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Stop, Tenant, Tenants, WidgetKey } from '../stores/tenants/contract.ts';

export interface DirectoryDeps {
  readonly tenants: Pick<Tenants, 'all' | 'stops'>;
  readonly budgets: Pick<Budgets, 'all'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  /** Whether only tenants that name their admins admit console users (`requireAdmins`); by default those that name none admit all. */
  readonly needsAdmins?: boolean;
  /**
   * Gets revoked keys that were not announced yet; after the first load that is all of them, since one may have been revoked while this process was
   * down. If it rejects, the next load announces the keys again, so it must be idempotent.
   */
  readonly onRevoked: (keys: readonly WidgetKey[]) => void | Promise<void>;
  /** The same for stops; it gets the tenants that are stopped. */
  readonly onStopped: (tenantIds: readonly string[]) => void | Promise<void>;
  /** The same for budgets that are new or were changed. */
  readonly onBudgets: (budgets: readonly Budget[]) => void | Promise<void>;
  /** A load or an announcement failed; called once until one succeeds again. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between loads that no message asked for; they make up for lost messages. */
  readonly refreshMs?: number;
  /** Milliseconds since some moment, including time in which this process was frozen. */
  readonly elapsedMs?: () => number;
}

const REFRESH_MS = 5000;
/** A load that is late by more than this was held up. */
const LATE_MS = 2000;

interface Snapshot {
  readonly tenants: ReadonlyMap<string, Tenant>;
  readonly keys: ReadonlyMap<string, { readonly key: WidgetKey; readonly tenant: Tenant }>;
  /** Each tenant's keys by id: a tenant may have thousands, and every usage report looks one up. */
  readonly names: ReadonlyMap<string, ReadonlyMap<string, WidgetKey>>;
  /** By tenant; null is the installation. */
  readonly stops: ReadonlyMap<string | null, Stop>;
  /** By tenant; null is the installation. */
  readonly budgets: ReadonlyMap<string | null, readonly Budget[]>;
}

const NO_BUDGETS: readonly Budget[] = [];

/**
 * All tenants in memory, for the hot path: lookups never wait. The database is the truth; while it is away the last good snapshot stays in use
 * (docs/architecture.md, section 5). A snapshot is replaced as a whole, so a caller never sees half of a change.
 */
export class TenantDirectory {
  readonly #deps: DirectoryDeps;
  readonly #announced = new Set<string>();
  #snapshot: Snapshot = index([], [], []);
  /** The origins of all keys that are not revoked (docs/contract.md, section 2.4, CORS); a new set whenever they may have changed. */
  widgetOrigins: ReadonlySet<string> = new Set();
  #running: Promise<unknown> = Promise.resolve();
  #queued: Promise<void> | undefined;
  #announcements: Promise<unknown> = Promise.resolve();
  readonly #troubles = new Set<'load' | 'announcement'>();
  #stops: (() => void)[] = [];
  readonly #elapsedMs: () => number;
  readonly #refreshMs: number;
  /** When the database was last asked, whatever the result. */
  #askedAtMs = -Infinity;

  constructor(deps: DirectoryDeps) {
    this.#deps = deps;
    this.#elapsedMs = deps.elapsedMs ?? (() => performance.now());
    this.#refreshMs = deps.refreshMs ?? REFRESH_MS;
  }

  /**
   * Loads all tenants, then keeps them fresh: on every tenants.changed and at least every refreshMs.
   * @throws Unavailable when the database is away; then nothing runs
   */
  async start(): Promise<void> {
    const stopListening = this.#deps.bus.subscribe({ 'tenants.changed': () => this.#refresh() });
    this.#stops.push(stopListening);
    try {
      await this.reload();
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (this.#stops.length === 0) return; // `stop` was called meanwhile.
    const timer = setInterval(() => this.#refresh(), this.#refreshMs).unref();
    this.#stops.push(() => clearInterval(timer));
  }

  /** Stops listening, and resolves when no load and no announcement is under way. The last snapshot still answers. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    await this.#queued?.catch(() => undefined);
    await this.#running;
    await this.#announcements;
  }

  /**
   * Resolves when lookups may be used to admit somebody. A process that was frozen reads the database first, since it missed what was revoked
   * meanwhile; while the database is away, what is known counts.
   */
  refreshIfLate(): Eventually<void> {
    if (this.#elapsedMs() - this.#askedAtMs <= this.#refreshMs + LATE_MS) return;
    return this.catchUp();
  }

  /** Resolves when this process serves what has been changed so far; if the database is away, the next load brings it. */
  catchUp(): Promise<void> {
    return this.reload().catch(() => undefined);
  }

  /** The key and its tenant, revoked or not: the caller decides what a revoked key means. */
  keyOf(key: string): { readonly key: WidgetKey; readonly tenant: Tenant } | undefined {
    return this.#snapshot.keys.get(key);
  }

  /** The key of a tenant by its own id, revoked or not. */
  keyNamed(tenantId: string, keyId: string): WidgetKey | undefined {
    return this.#snapshot.names.get(tenantId)?.get(keyId);
  }

  /** Whether a key is revoked; reads the database first if this process may have missed that. */
  isRevoked(tenantId: string, keyId: string): Eventually<boolean> {
    return andThen(this.refreshIfLate(), () => {
      const key = this.keyNamed(tenantId, keyId);
      return key !== undefined && key.revokedAtMs !== null;
    });
  }

  /** Why a tenant opens no sessions: the stop of the installation, or its own. */
  stopOf(tenantId: string): Stop | undefined {
    const { stops } = this.#snapshot;
    return stops.get(null) ?? stops.get(tenantId);
  }

  /** The budgets of a tenant; null for those of the installation. */
  budgetsOf(tenantId: string | null): readonly Budget[] {
    return this.#snapshot.budgets.get(tenantId) ?? NO_BUDGETS;
  }

  allBudgets(): readonly Budget[] {
    return [...this.#snapshot.budgets.values()].flat();
  }

  tenant(id: string): Tenant | undefined {
    return this.#snapshot.tenants.get(id);
  }

  all(): Tenant[] {
    return [...this.#snapshot.tenants.values()];
  }

  /** The tenants that a console user may act for: those whose list has the address and, unless `needsAdmins`, those without a list. */
  tenantsAdmitting(email: string): Tenant[] {
    const { needsAdmins = false } = this.#deps;
    return this.all().filter(({ admins }) => (admins === null ? !needsAdmins : matchesEmailList(email, admins)));
  }

  /** The tenants whose list of admins has the address. */
  administeredBy(email: string): string[] {
    return this.all().flatMap(({ id, admins }) => (admins !== null && matchesEmailList(email, admins) ? [id] : []));
  }

  /**
   * Resolves when a load that began after this call is in place; calls during a load share the next one.
   * @throws Unavailable when the database is away; the last good snapshot stays
   */
  reload(): Promise<void> {
    this.#queued ??= this.#running.then(() => {
      this.#queued = undefined;
      const load = this.#load();
      this.#running = load.catch(() => undefined);
      return load;
    });
    return this.#queued;
  }

  #refresh(): void {
    this.reload().catch(() => undefined);
  }

  async #load(): Promise<void> {
    try {
      const { tenants, budgets } = this.#deps;
      this.#snapshot = index(...(await Promise.all([tenants.all(), tenants.stops(), budgets.all()])));
      this.#troubles.delete('load');
    } catch (error) {
      this.#tell('load', error);
      throw error;
    } finally {
      this.#askedAtMs = this.#elapsedMs();
    }
    const keys = [...this.#snapshot.keys.values()].map(({ key }) => key);
    this.widgetOrigins = new Set(keys.flatMap(({ origin, revokedAtMs }) => (revokedAtMs === null ? [origin] : [])));
    const { onRevoked, onStopped, onBudgets } = this.#deps;
    const revoked = keys.filter(({ revokedAtMs }) => revokedAtMs !== null);
    this.#announce(revoked, ({ key }) => key, onRevoked);
    const stopped = [...this.#snapshot.tenants.keys()].flatMap((id) => {
      const stop = this.stopOf(id);
      return stop === undefined ? [] : [{ id, atMs: stop.atMs }];
    });
    this.#announce(
      stopped,
      ({ id, atMs }) => `stop ${id} ${atMs}`,
      (fresh) => onStopped(fresh.map(({ id }) => id)),
    );
    this.#announce(
      this.allBudgets(),
      ({ tenantId, id, version, changedAtMs }) => `budget ${tenantId ?? ''}/${id} ${version} ${changedAtMs}`,
      onBudgets,
    );
  }

  /** Announces what was not announced yet. Loads do not wait for it: ending many sessions may take long, and must not delay the next load. */
  #announce<T>(
    all: readonly T[],
    nameOf: (one: T) => string,
    tell: (fresh: readonly T[]) => void | Promise<void>,
  ): void {
    const fresh = all.filter((one) => !this.#announced.has(nameOf(one)));
    if (fresh.length === 0) return;
    for (const one of fresh) this.#announced.add(nameOf(one));
    const telling = async (): Promise<void> => {
      try {
        await tell(fresh);
        this.#troubles.delete('announcement');
      } catch (error) {
        for (const one of fresh) this.#announced.delete(nameOf(one));
        this.#tell('announcement', error);
      }
    };
    this.#announcements = Promise.all([this.#announcements, telling()]);
  }

  #tell(what: 'load' | 'announcement', error: unknown): void {
    if (!this.#troubles.has(what)) this.#deps.onError(error);
    this.#troubles.add(what);
  }
}

export function noTenant(tenantId: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no tenant "${tenantId}"; tenants come from TENANTS_FILE.`);
}

/** Unknown and revoked keys and those of another tenant get the same answer. */
export function invalidWidgetKey(why: Why = {}): Refusal {
  return new Refusal('INVALID_WIDGET_KEY', 'The widgetKey is unknown, revoked or not of this tenant.', {}, why);
}

function index(tenants: readonly Tenant[], stops: readonly Stop[], budgets: readonly Budget[]): Snapshot {
  const keys = tenants.flatMap((tenant) => tenant.keys.map((key) => ({ key, tenant })));
  const named = new Map(tenants.map((tenant) => [tenant.id, tenant]));
  return {
    tenants: named,
    keys: new Map(keys.map((entry) => [entry.key.key, entry])),
    names: new Map(tenants.map((tenant) => [tenant.id, new Map(tenant.keys.map((key) => [key.id, key]))])),
    stops: new Map(stops.map((stop) => [stop.tenantId, stop])),
    // The database also keeps budgets of the demo where its tenant is not served.
    budgets: byTenant(budgets.filter(({ tenantId }) => tenantId === null || named.has(tenantId))),
  };
}

function byTenant(budgets: readonly Budget[]): ReadonlyMap<string | null, readonly Budget[]> {
  const found = new Map<string | null, Budget[]>();
  for (const budget of budgets) {
    const others = found.get(budget.tenantId);
    if (others === undefined) found.set(budget.tenantId, [budget]);
    else others.push(budget);
  }
  return found;
}
