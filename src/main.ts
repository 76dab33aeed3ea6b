#!/usr/bin/env node
import { text as readAll } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import * as checkConfig from './cli/check-config.ts';
import * as exporting from './cli/export.ts';
import * as reconcile from './cli/reconcile.ts';
import * as help from './cli/help.ts';
import * as keys from './cli/keys.ts';
import * as migrate from './cli/migrate.ts';
import { readDatabase, openKeyStores, openReconciliationStores, openSecretStores } from './cli/open-stores.ts';
import * as printOpenapi from './cli/print-openapi.ts';
import * as secrets from './cli/secrets.ts';
import { serve } from './cli/serve.ts';
import * as tenants from './cli/tenants.ts';
import * as stop from './cli/stop.ts';
import { tellFault } from './cli/tell-fault.ts';
import { exitCode, type Terminal } from './cli/terminal.ts';
import * as webhooks from './cli/webhooks.ts';
import { work } from './cli/run-node.ts';

const terminal: Terminal = { out: process.stdout, err: process.stderr, env: process.env };

const takeArguments = new Set<string | undefined>([
  'keys',
  'tenants',
  'secrets',
  'webhooks',
  'stop',
  'resume',
  'export',
  'reconcile',
]);

function run([command, ...args]: readonly string[]): Promise<number> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) return help.run([], terminal);
  // Whoever writes `serve --port 80` or `migrate --dry-run` must not believe to have been understood.
  if (args.length > 0 && !takeArguments.has(command))
    return refuse(`${command} takes no arguments, such as "${args[0]}"`);
  switch (command) {
    case undefined:
    case 'serve':
      return serve(terminal, fileURLToPath(import.meta.url));
    // Not for people: how serve starts its workers.
    case 'worker':
      return work(terminal);
    case 'migrate':
      return migrate.run(args, terminal);
    case 'check-config':
      return checkConfig.run(args, { ...terminal, readDatabase });
    case 'keys':
      return keys.run(args, { ...terminal, openStores: openKeyStores });
    case 'tenants':
      return tenants.run(args, terminal);
    case 'secrets':
      return secrets.run(args, { ...terminal, openStores: openSecretStores, readInput: () => readAll(process.stdin) });
    case 'webhooks':
      return webhooks.run(args, { ...terminal, openStores: openSecretStores });
    case 'stop':
    case 'resume':
      return stop.run(command, args, { ...terminal, openStores: openKeyStores });
    case 'export':
      return exporting.run(args, { ...terminal, openStores: openKeyStores, print });
    case 'reconcile':
      return reconcile.run(args, { ...terminal, openReconciliation: openReconciliationStores });
    case 'print-openapi':
      return printOpenapi.run(args, terminal);
    case 'help':
    case '--help':
    case '-h':
      return help.run(args, terminal);
    default:
      return refuse(`There is no command "${command}"`);
  }
}

/** Whoever reads no further, as `head` does, has what it wanted. */
async function print(parts: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(parts, process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

function refuse(why: string): Promise<number> {
  terminal.err.write(`${why}; see --help.\n`);
  return Promise.resolve(exitCode.usage);
}

/** In words where an operator can mend it, else with what a developer needs. */
function tell(error: unknown): number {
  try {
    return tellFault(error, terminal.err);
  } catch {
    terminal.err.write(`${String(error instanceof Error ? error.stack : error)}\n`);
    return exitCode.refused;
  }
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = tell(error);
}

// Pipes are written in the background: what was printed must be out before the exit.
process.stdout.write('', () => process.exit());
