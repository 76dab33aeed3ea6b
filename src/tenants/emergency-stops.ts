import type { Clock } from '../kernel/time.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { ActAction } from '../stores/journal/act-contract.ts';
import { audited, newAct, type ActLog, type ChangedBy, type NewEntry } from '../stores/journal/contract.ts';
import type { Stop, Tenants } from '../stores/tenants/contract.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import { noTenant } from './directory.ts';

export interface StopDeps {
  readonly tenants: Pick<Tenants, 'all' | 'stops' | 'addStop' | 'liftStop'>;
  readonly acts: ActLog;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
}

/** The name of the installation as a whole in the journal and the console. */
export const INSTALLATION = 'installation';

/**
 * Stops a tenant or the installation: within a second every node refuses creates and ends what is open, including a node that starts later
 * (docs/operations.md, "Stop everything"). Stopping twice is no error and keeps the first stop, except that anybody else's stop replaces one by an
 * admin of the tenant, who could lift it.
 * @param tenantId null for the installation
 * @returns the stop that holds, or a Refusal NOT_FOUND for an unknown tenant
 * @throws Unavailable when the database is away: then nothing is stopped
 */
export async function stopService(tenantId: string | null, by: ChangedBy, deps: StopDeps): Promise<Stop | Refusal> {
  const { tenants, acts, bus } = deps;
  if (tenantId !== null && !(await isThere(tenantId, tenants))) return noTenant(tenantId);
  const atMs = deps.clock.now();
  const stop = await audited(
    acts,
    entryOf('service.stop', tenantId, by, atMs),
    () => tenants.addStop({ tenantId, atMs, actor: by.actor, role: by.role, reason: by.reason ?? null }),
    (kept) => (kept.atMs === atMs ? 'done' : 'unchanged'),
  );
  bus.publish({ type: 'tenants.changed' });
  return stop;
}

/**
 * Lifts a stop: sessions may begin again at once. Lifting the installation's stop leaves those of tenants as they are.
 * @param tenantId null for the installation
 * @returns whether there was one; or a Refusal NOT_FOUND for an unknown tenant, or FORBIDDEN for an admin of the tenant if an operator of the
 *   installation stopped it
 * @throws Unavailable when the database is away
 */
export async function resumeService(
  tenantId: string | null,
  by: ChangedBy,
  deps: StopDeps,
): Promise<boolean | Refusal> {
  const { tenants, acts, bus } = deps;
  const stop = (await tenants.stops()).find((one) => one.tenantId === tenantId);
  if (stop === undefined && tenantId !== null && !(await isThere(tenantId, tenants))) return noTenant(tenantId);
  if (by.role === 'tenant_admin' && stop !== undefined && stop.role !== 'tenant_admin')
    return new Refusal('FORBIDDEN', 'An operator of the installation stopped this tenant, and one has to resume it.');
  const isLifted = await audited(
    acts,
    entryOf('service.resume', tenantId, by, deps.clock.now()),
    () => tenants.liftStop(tenantId),
    (lifted) => (lifted ? 'done' : 'unchanged'),
  );
  bus.publish({ type: 'tenants.changed' });
  return isLifted;
}

async function isThere(tenantId: string, tenants: Pick<Tenants, 'all'>): Promise<boolean> {
  return (await tenants.all()).some(({ id }) => id === tenantId);
}

function entryOf(action: ActAction, tenantId: string | null, by: ChangedBy, atMs: number): NewEntry<'act'> {
  return newAct({ ...by, atMs, action, target: tenantId ?? INSTALLATION, tenantId });
}

/** What a stop has not ended yet. */
export interface StillOpen {
  /** Sessions that have not ended. */
  readonly sessions: number;
  /** `open`: calls that go on or are being opened; `closing`: calls whose end the provider has not confirmed. */
  readonly calls: { readonly open: number; readonly closing: number };
}

/** @param tenants all if not given @throws Unavailable when the database is away */
export async function stillOpen(
  tenants: readonly string[] | undefined,
  {
    history,
    calls,
  }: { readonly history: Pick<VoiceHistory, 'countOpen'>; readonly calls: Pick<VoiceCalls, 'countUnclosed'> },
): Promise<StillOpen> {
  const [{ matched }, unclosed] = await Promise.all([history.countOpen({ tenants }), calls.countUnclosed(tenants)]);
  return { sessions: matched, calls: unclosed };
}
