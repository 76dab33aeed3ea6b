import type { Disposables } from '../kernel/async.ts';
import { findShutdowns } from '../metering/check-prices.ts';
import { placeDemo, withoutDemo } from '../tenants/demo.ts';
import { TenantDirectory } from '../tenants/directory.ts';
import { describeOpenKeys } from '../tenants/key-rules.ts';
import { withoutAdmins } from '../tenants/tenants-file.ts';
import { TenantsFileWatch } from '../tenants/watch-file.ts';
import type { Budget } from '../stores/budgets/contract.ts';
import type { VoiceSessions } from '../sessions/sessions.ts';
import { createCallModes } from '../tenants/agents.ts';
import { rulesOfServed } from './file-faults.ts';
import { findNewVisitorWarnings, findToolWarnings, findUncaptioned, findUnsupported } from './tenant-warnings.ts';
import type { Core } from './core.ts';

/** Keys that one start-up warning names at most. */
const MAX_KEYS_TOLD = 20;

/** The tenant directory, in memory once it is started. Revoking a key ends its sessions. */
export function openTenants(
  core: Core,
  sessions: VoiceSessions,
  lookAtBudgets: (budgets: readonly Budget[]) => Promise<void>,
): TenantDirectory {
  const { config, clock, stores, live, publicUrl, onError } = core;
  return new TenantDirectory({
    // A database that was used for development before still holds the demo.
    tenants:
      config.mode === 'production'
        ? {
            all: async () => withoutDemo(await stores.tenants.all(), publicUrl()),
            stops: () => stores.tenants.stops(),
          }
        : stores.tenants,
    budgets: stores.budgets,
    bus: live.bus,
    needsAdmins: config.needsAdmins,
    onError,
    async onRevoked(keys) {
      for (const { tenantId, id } of keys) await sessions.endKey(tenantId, id, 'key_revoked', clock.now());
    },
    async onStopped(tenantIds) {
      for (const id of tenantIds) await sessions.stopTenant(id, clock.now());
    },
    onBudgets: lookAtBudgets,
  });
}

/**
 * Reads the tenants file into the database, follows its changes, and warns of settings that are hardly intended.
 * @throws TenantsFileError for the file, Unavailable when the database is away
 */
export async function startTenants(core: Core, tenants: TenantDirectory, disposables: Disposables): Promise<void> {
  const { config, clock, calendar, database, stores, live, provider, prices, publicUrl, onError } = core;
  const watch = new TenantsFileWatch({
    file: config.tenantsFile,
    tenants: stores.tenants,
    dayOf: (atMs) => calendar(atMs).day,
    bus: live.bus,
    clock,
    adapt(read) {
      const served = placeDemo(read, { mode: config.mode, publicUrl: publicUrl(), database: database.kind });
      for (const rule of rulesOfServed(served, config, provider, prices)) rule();
      return served;
    },
    onProblem: onError,
  });
  await watch.start();
  disposables.add(() => watch.stop());
  await tenants.start();
  warnOf(core, tenants);
  disposables.add(() => tenants.stop());
}

function warnOf({ config, clock, provider, prices, events }: Core, tenants: TenantDirectory): void {
  const all = tenants.all();
  const closed = config.needsAdmins ? withoutAdmins(all).map(({ id }) => id) : [];
  if (closed.length > 0)
    events.warned(
      'tenants of the database that the tenants file does not name have no admins: they admit no console user',
      { tenants: closed },
    );
  for (const warning of findShutdowns(all, prices, clock.now())) events.warned(warning);
  for (const warning of findUnsupported(all, provider)) events.warned(warning);
  const modeOf = createCallModes(config.calls.mode, provider);
  for (const warning of findToolWarnings(all, provider, modeOf)) events.warned(warning);
  for (const warning of findUncaptioned(all, provider, modeOf)) events.warned(warning);
  const { maxMinutes } = config.voice;
  for (const warning of findNewVisitorWarnings(all, { provider, modeOf, maxMinutes })) events.warned(warning);
  const openKeys = describeOpenKeys(all);
  if (openKeys.length > 0)
    events.warned('keys are open: whoever copies one has a free model (check-config names all)', {
      count: openKeys.length,
      keys: openKeys.slice(0, MAX_KEYS_TOLD),
    });
}
