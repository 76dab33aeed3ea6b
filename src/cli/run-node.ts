import { setTimeout as delay } from 'node:timers/promises';
import { type Config, readConfig } from '../../config/config.ts';
import { startApp, type App } from '../app/app.ts';
import { installDriverGuard } from '../database/faults.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { exitCode, type Terminal } from './terminal.ts';
import { tellFault } from './tell-fault.ts';

/** The contract allows ten seconds from the signal to the exit. */
const SHUTDOWN_MS = 9000;
const SAME_SIGNAL_MS = 1000;

/** What the start-up message of a service shows. */
export type StartedNode = Pick<App, 'publicUrl' | 'parts' | 'demo'>;

/** A readable log on a developer's terminal, JSON lines elsewhere. */
export function logOf(config: Config): Log {
  return createLog(config.logLevel, process.stdout.isTTY && config.mode !== 'production');
}

/**
 * Resolves with the first of the signals. A signal within the next second counts as the same one, because both the terminal and npm
 * deliver it. After that a signal has its default effect.
 */
export function untilSignal(...signals: readonly NodeJS.Signals[]): Promise<unknown> {
  return new Promise((resolve) => {
    const stopListening = (): void => signals.forEach((signal) => process.off(signal, onSignal));
    const onSignal = (signal: NodeJS.Signals): void => {
      resolve(signal);
      setTimeout(stopListening, SAME_SIGNAL_MS).unref();
    };
    for (const signal of signals) process.on(signal, onSignal);
  });
}

/**
 * Runs the service in this process until `stopped` resolves, then drains it.
 * @returns the exit code: 0 after a drained shutdown, 1 when the address is taken, 69 when the database cannot be used, 78 when the
 * tenants file cannot
 */
export async function runNode(
  config: Config,
  { out, err }: Terminal,
  stopped: Promise<unknown>,
  onStarted: (app: StartedNode) => void,
): Promise<number> {
  const log = logOf(config);
  installDriverGuard({
    onFault: (error) => log.warn({ event: 'dependency.away', dependency: 'database', err: error }),
  });
  process.on('unhandledRejection', (error) => log.error({ event: 'fault', where: 'unhandled rejection', err: error }));

  let app: App | undefined;
  try {
    const starting = startApp(config, log, {
      onDevMail: (mail) => out.write(`\n  Mail to ${mail.to}: ${codeIn(mail.text)}\n\n`),
    });
    // A start may wait a minute for its database, but a stop may not. The database rolls back what the start has not committed.
    const stoppedMeanwhile = stopped.then(() => delay(SHUTDOWN_MS, undefined, { ref: false }));
    app = await Promise.race([starting, stoppedMeanwhile]);
  } catch (error) {
    return tellFault(error, err);
  }
  if (app === undefined) {
    log.info({ event: 'service.stopped', isDrained: false });
    return exitCode.refused;
  }
  onStarted(app);

  await stopped;
  log.info({ event: 'service.stopping' });
  const isDrained = await Promise.race([app.close().then(() => true), delay(SHUTDOWN_MS, false, { ref: false })]);
  log.info({ event: 'service.stopped', isDrained });
  return isDrained ? exitCode.ok : exitCode.refused;
}

function codeIn(text: string): string {
  return /\b\d{6}\b/.exec(text)?.[0] ?? 'see /dev/mail';
}

/**
 * `worker`: one of the processes of `serve` with WORKERS. It tells its parent when it is ready, and drains on SIGTERM or when the parent
 * ends. Signals that a terminal sends to the whole process group are handled by the parent.
 */
export function work(terminal: Terminal): Promise<number> {
  if (process.send === undefined) {
    terminal.err.write('A worker is started by serve; set WORKERS.\n');
    return Promise.resolve(exitCode.usage);
  }
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('disconnect', resolve);
    // If the parent ended while this process was loading, no further event will come.
    if (!process.connected) resolve();
  });
  return runNode(readConfig(terminal.env), terminal, stopped, ({ publicUrl, parts, demo }) => {
    // Sending fails if the parent has ended; `disconnect` then ends this worker.
    process.send?.({ publicUrl, parts, demo }, undefined, undefined, () => undefined);
  });
}
