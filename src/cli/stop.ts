import { parseArgs } from 'node:util';
import { readConfig, type Config } from '../../config/config.ts';
import { systemClock } from '../kernel/clock.ts';
import { iso } from '../kernel/time.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import { resumeService, stillOpen, stopService, type StopDeps } from '../tenants/stops.ts';
import type { ChangedBy } from '../stores/journal/contract.ts';
import { byCommand, explainFault } from './store-command.ts';
import { exitCode, type Terminal } from './terminal.ts';

export interface StopStores extends Omit<StopDeps, 'clock'> {
  readonly history: Pick<VoiceHistory, 'countOpen'>;
  readonly calls: Pick<VoiceCalls, 'countUnclosed'>;
  /** Sends what is still under way, and closes connections and locks. */
  close(): Promise<void>;
}

export interface StopTerminal extends Terminal {
  /** @throws DirectoryInUse when a server runs on the embedded database; Unavailable when the database is away */
  readonly openStores: (config: Config) => Promise<StopStores>;
}

/** Usage and descriptions of the commands. */
export const stopCommands = [
  {
    usage: 'stop [--tenant T] [--reason R]',
    meaning:
      'the emergency switch: until it is resumed no session is opened, and every open one is ended and its call hung up, on all servers; repeating it shows what is still open',
  },
  { usage: 'resume [--tenant T] [--reason R]', meaning: 'allows sessions to be opened again after a stop' },
] as const;

const USAGE = `Usage:\n${stopCommands.map(({ usage }) => `  ${usage}`).join('\n')}\nWithout --tenant: the whole installation.\n`;

const BESIDE_SERVER =
  'While it runs, use the console (Overview), or POST /api/operator/stop and /api/operator/resume.\nWith DATABASE_URL this command works beside running servers.\n';

/**
 * `stop` and `resume`, with the server's environment.
 * @returns 0; 1 for a refusal, 64 for wrong arguments, 69 when the database is away or in use, 78 for wrong settings
 */
export async function run(
  command: 'stop' | 'resume',
  args: readonly string[],
  { out, err, env, openStores }: StopTerminal,
): Promise<number> {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ args: [...args], options: { tenant: text, reason: text } });
    const by = byCommand(values.reason);
    const stores = await openStores(readConfig(env, ['DATABASE_URL']));
    try {
      const told = await (command === 'stop' ? stop : resume)(values.tenant ?? null, by, stores);
      if (told instanceof Refusal) {
        err.write(`${told.error}\n`);
        return exitCode.refused;
      }
      out.write(`${told}\n`);
      return exitCode.ok;
    } finally {
      await stores.close();
    }
  } catch (error) {
    return explainFault(error, USAGE, BESIDE_SERVER, err);
  }
}

const nameOf = (tenantId: string | null): string => (tenantId === null ? 'Everything' : `The tenant ${tenantId}`);

async function stop(tenantId: string | null, by: ChangedBy, stores: StopStores): Promise<string | Refusal> {
  const made = await stopService(tenantId, by, { ...stores, clock: systemClock });
  if (made instanceof Refusal) return made;
  const tenants = tenantId === null ? undefined : [tenantId];
  const { sessions, calls } = await stillOpen(tenants, stores);
  const left = [
    `${sessions} sessions`,
    `${calls.open} calls that go on`,
    `${calls.closing} calls whose end the provider has not confirmed`,
  ];
  const isOver = sessions + calls.open + calls.closing === 0;
  // As JSON, because a terminal would obey control characters.
  const why = made.reason === null ? '' : `: ${JSON.stringify(made.reason)}`;
  return [
    `${nameOf(tenantId)} is stopped since ${iso(made.atMs)} (${made.actor})${why}.`,
    isOver
      ? 'Nothing is open.'
      : `Still open: ${left.join(', ')}. Running servers are ending them; run this command again to see what is left.`,
  ].join('\n');
}

async function resume(tenantId: string | null, by: ChangedBy, stores: StopStores): Promise<string | Refusal> {
  const isLifted = await resumeService(tenantId, by, { ...stores, clock: systemClock });
  if (isLifted instanceof Refusal) return isLifted;
  const others = (await stores.tenants.stops()).map((one) =>
    one.tenantId === null ? 'the whole installation' : `the tenant ${one.tenantId}`,
  );
  return [
    isLifted ? `${nameOf(tenantId)} opens sessions again.` : `${nameOf(tenantId)} was not stopped.`,
    ...(others.length === 0 ? [] : [`Still stopped: ${others.join(', ')}.`]),
  ].join('\n');
}
