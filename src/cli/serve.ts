import { readConfig, type Config } from '../../config/config.ts';
import { defaultTenantsFile } from '../../config/build-info.ts';
import { isLoopback } from '../kernel/addresses.ts';
import { liveEngineOf } from '../app/stores.ts';
import type { Answerer } from '../upstream/enforcement.ts';
import { runNode, untilSignal, type StartedNode } from './run-node.ts';
import type { Terminal } from './terminal.ts';
import { widgetTag } from './key-view.ts';
import { superviseWorkers } from './workers.ts';

/**
 * Runs the service until SIGTERM or SIGINT, in this process or in WORKERS of them.
 * @param entry the script that this process runs
 * @returns the exit code: 0 after a drained shutdown, 1 when the address is in use, 69 when the database cannot be used, 78 when the
 * tenants file cannot
 * @throws ConfigError with everything that is wrong with the environment
 */
export function serve(terminal: Terminal, entry: string): Promise<number> {
  const config = readConfig(terminal.env);
  const onStarted = (app: StartedNode): void =>
    void terminal.out.write(`${startMessage(config, app, performance.now())}\n`);
  if (config.workers > 1) return superviseWorkers(config, terminal, entry, onStarted);
  return runNode(config, terminal, untilSignal('SIGTERM', 'SIGINT'), onStarted);
}

/** What answers calls when there is no model. */
const standIns: Readonly<Record<Answerer, string>> = {
  model: '',
  echo: 'an echo answers in place of the model: set OPENAI_API_KEY',
  nobody: 'the provider is simulated, and calls are not answered: set OPENAI_API_KEY',
};

/** Addresses, the parts in use, and what is unfit for production (docs/contract.md, section 1.1). */
function startMessage(config: Config, { publicUrl, parts, demo }: StartedNode, elapsedMs: number): string {
  const notes = [
    config.databaseUrl === undefined
      ? 'embedded storage survives a crash, not a power cut, and serves one process: set DATABASE_URL'
      : '',
    liveEngineOf(config).variable === undefined
      ? 'the live registry is in this process: set REDIS_URL to run several nodes'
      : '',
    config.mail.server === undefined ? 'login codes go to this terminal and /dev/mail: set SMTP_URL' : '',
    standIns[parts.answerer],
    config.jwtSecrets === undefined ? 'the login secret is random and stored in the database: set JWT_SECRET' : '',
  ].filter((note) => note !== '');
  const lines = [
    `Switchboard is ready at ${publicUrl} (${(elapsedMs / 1000).toFixed(1)} s)`,
    '',
    `  Demo page       ${publicUrl}/demo`,
    `  Console         ${publicUrl}/console`,
    `  Documentation   ${publicUrl}/docs`,
    ...(parts.mail === 'development mailbox' && isLoopback(publicUrl)
      ? [`  Mailbox         ${publicUrl}/dev/mail`]
      : []),
    `  Storage         ${parts.storage}`,
    `  Live registry   ${parts.registry}`,
    `  Mail            ${parts.mail}`,
    `  Provider        ${parts.provider}`,
    ...(parts.areEndsAdvisory && parts.answerer === 'model'
      ? ['  Calls           direct: ends and usage are advisory (check-config explains)']
      : []),
    ...(config.host === '127.0.0.1'
      ? ['  Reachable       from this machine only: HOST=0.0.0.0 accepts other machines']
      : []),
    ...(config.workers === 1 ? [] : [`  Workers         ${config.workers} processes`]),
    // With a tenants file of one's own the demo's tag is of no use: `keys issue` prints the right ones.
    ...(demo === undefined || config.mode !== 'development' || config.tenantsFile !== defaultTenantsFile()
      ? []
      : [
          '',
          `  To paste into a page at ${demo.key.origin}:`,
          '',
          widgetTag(publicUrl, demo.key, demo.agentId).replaceAll(/^/gm, '    '),
        ]),
    ...(notes.length === 0 ? [] : ['', '  Not fit for production:', ...notes.map((note) => `    - ${note}`)]),
    '',
  ];
  return lines.join('\n');
}
