import { parseArgs } from 'node:util';
import { iso } from '../kernel/time.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import { resumeService, stillOpen, stopService, type StopDeps } from '../tenants/emergency-stops.ts';
import type { ChangedBy } from '../stores/journal/contract.ts';
import { byCommand, runOnStores, text, usageOf, type OpenStores, type StoreTerminal } from './store-command.ts';

export interface StopStores extends Omit<StopDeps, 'clock'>, OpenStores {
  readonly history: Pick<VoiceHistory, 'countOpen'>;
  readonly calls: Pick<VoiceCalls, 'countUnclosed'>;
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

const words = {
  usage: `${usageOf(stopCommands)}Without --tenant: the whole installation.\n`,
  besideServer:
    'While it runs, use the console (Overview), or POST /api/operator/stop and /api/operator/resume.\nWith DATABASE_URL this command works beside running servers.\n',
};

/** `stop` and `resume`. @returns as `runOnStores` */
export function run(
  command: 'stop' | 'resume',
  args: readonly string[],
  terminal: StoreTerminal<StopStores>,
): Promise<number> {
  return runOnStores(words, terminal, () => {
    const { values } = parseArgs({ args: [...args], options: { tenant: text, reason: text } });
    const by = byCommand(values.reason);
    return (deps) => (command === 'stop' ? stop : resume)(values.tenant ?? null, by, deps);
  });
}

const scopeName = (tenantId: string | null): string => (tenantId === null ? 'Everything' : `The tenant ${tenantId}`);

type Deps = StopDeps & StopStores;

async function stop(tenantId: string | null, by: ChangedBy, deps: Deps): Promise<string | Refusal> {
  const made = await stopService(tenantId, by, deps);
  if (made instanceof Refusal) return made;
  const { sessions, calls } = await stillOpen(tenantId === null ? undefined : [tenantId], deps);
  const left = [
    `${sessions} sessions`,
    `${calls.open} calls that go on`,
    `${calls.closing} calls whose end the provider has not confirmed`,
  ];
  const isOver = sessions + calls.open + calls.closing === 0;
  // As JSON, because a terminal would obey control characters.
  const why = made.reason === null ? '' : `: ${JSON.stringify(made.reason)}`;
  return linesOf(
    `${scopeName(tenantId)} is stopped since ${iso(made.atMs)} (${made.actor})${why}.`,
    isOver
      ? 'Nothing is open.'
      : `Still open: ${left.join(', ')}. Running servers are ending them; run this command again to see what is left.`,
  );
}

async function resume(tenantId: string | null, by: ChangedBy, deps: Deps): Promise<string | Refusal> {
  const isLifted = await resumeService(tenantId, by, deps);
  if (isLifted instanceof Refusal) return isLifted;
  const others = (await deps.tenants.stops()).map((one) =>
    one.tenantId === null ? 'the whole installation' : `the tenant ${one.tenantId}`,
  );
  return linesOf(
    isLifted ? `${scopeName(tenantId)} opens sessions again.` : `${scopeName(tenantId)} was not stopped.`,
    ...(others.length === 0 ? [] : [`Still stopped: ${others.join(', ')}.`]),
  );
}

function linesOf(...lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
