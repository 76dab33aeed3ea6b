import { setTimeout as delay } from 'node:timers/promises';
import { toConfig, type Config } from '../../config/config.ts';
import { readSettings } from '../../config/env.ts';
import { startApp, type App } from '../app.ts';
import { installDriverGuard } from '../database/driver-guard.ts';
import { UnusableDirectory } from '../database/embedded/directory.ts';
import { DirectoryInUse } from '../database/embedded/directory-lock.ts';
import { MigrationError } from '../database/migrate.ts';
import { createLog } from '../telemetry/log.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';
import { CannotListen } from '../transport/server.ts';
import { exitCode, type Output, type Terminal } from './terminal.ts';

/** The contract allows ten seconds from the signal to the exit. */
const SHUTDOWN_MS = 9000;

/**
 * Runs the service until SIGTERM or SIGINT.
 * @returns the exit code: 0 after a drained shutdown, 1 when the address is taken, 78 when the configuration or the tenants file cannot be used
 * @throws ConfigError with everything that is wrong with the environment
 */
export async function serve({ env, out, err }: Terminal): Promise<number> {
  const print = (text: string): void => void out.write(`${text}\n`);
  const config = toConfig(readSettings(env));
  const isTerminal = process.stdout.isTTY;
  const log = createLog(config.logLevel, isTerminal && config.mode !== 'production');
  installDriverGuard({
    onFault: (error) => log.warn({ event: 'dependency.away', dependency: 'database', err: error }),
  });
  process.on('unhandledRejection', (error) => log.error({ event: 'fault', where: 'unhandled rejection', err: error }));

  const stopped = Promise.race(
    ['SIGTERM', 'SIGINT'].map((signal) => new Promise((resolve) => process.once(signal, () => resolve(signal)))),
  );
  let app: App;
  try {
    app = await startApp(config, log, { onDevMail: (mail) => print(`\n  Mail to ${mail.to}: ${codeIn(mail.text)}\n`) });
  } catch (error) {
    if (error instanceof TenantsFileError) return refuse(err, error, exitCode.config);
    if (error instanceof DirectoryInUse || error instanceof UnusableDirectory || error instanceof MigrationError)
      return refuse(err, error, exitCode.unavailable);
    if (error instanceof CannotListen) return refuse(err, error, exitCode.refused);
    throw error;
  }
  print(startMessage(config, app, performance.now()));

  await stopped;
  log.info({ event: 'service.stopping' });
  const isDrained = await Promise.race([app.close().then(() => true), delay(SHUTDOWN_MS, false, { ref: false })]);
  log.info({ event: 'service.stopped', isDrained });
  return isDrained ? exitCode.ok : exitCode.refused;
}

function refuse(err: Output, error: Error, code: number): number {
  err.write(`${error.message}\n`);
  return code;
}

function codeIn(text: string): string {
  return /\b\d{6}\b/.exec(text)?.[0] ?? 'see /dev/mail';
}

/** What a newcomer needs to go on: addresses, what is in use, and what is not fit for production (contract section 1). */
function startMessage(config: Config, { publicUrl, parts }: App, elapsedMs: number): string {
  const notes = [
    config.databaseUrl === undefined
      ? 'embedded storage survives a crash, not a power cut, and serves one process: set DATABASE_URL'
      : '',
    config.redisUrls === undefined ? 'the live registry is in this process: set REDIS_URL to run several nodes' : '',
    config.mail.smtpUrl === undefined ? 'login codes go to this terminal and /dev/mail: set SMTP_URL' : '',
    config.upstream.provider === 'local' ? 'the provider is simulated, nobody can talk: set OPENAI_API_KEY' : '',
    config.jwtSecrets === undefined ? 'the login secret is made up and kept in the database: set JWT_SECRET' : '',
  ].filter((note) => note !== '');
  const lines = [
    `Switchboard is ready at ${publicUrl} (${(elapsedMs / 1000).toFixed(1)} s)`,
    '',
    `  Demo page       ${publicUrl}/demo`,
    `  API reference   ${publicUrl}/docs`,
    ...(parts.mail === 'development mailbox' ? [`  Mailbox         ${publicUrl}/dev/mail`] : []),
    `  Storage         ${parts.storage}`,
    `  Live registry   ${parts.registry}`,
    `  Mail            ${parts.mail}`,
    `  Provider        ${parts.provider}`,
    ...(notes.length === 0 ? [] : ['', '  Not fit for production:', ...notes.map((note) => `    - ${note}`)]),
    '',
  ];
  return lines.join('\n');
}
