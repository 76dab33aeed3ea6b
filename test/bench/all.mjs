// Runs one command of `npm run bench`, or a short run of every one, and writes what they measured as one Markdown document.
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { readOptions } from './support/options.mjs';
import { runForRecord } from './support/recorded.mjs';
import { toMarkdown } from './support/tables.mjs';

const ANYWAY = `
  --anyway           succeeds even when the figures must not be recorded: on a machine that is not quiet, or with a server that was idle`;

/**
 * Runs a command and prints its tables. @returns the tables and the reasons not to record them; undefined when `--help` was answered
 * @throws WrongOption
 */
export async function runBench(name, args) {
  const { run, usage, defaults } = await import(`./${name}/main.mjs`);
  const options = readOptions(args, `${usage}${ANYWAY}`, { ...defaults, anyway: false });
  return options === undefined ? undefined : runForRecord(run, options);
}

/** Runs the others even when a command fails; the document reports the failure, and the run fails. */
export async function runAll(names) {
  const about = describeMachine();
  const parts = [];
  for (const name of names) {
    console.log(`\n--- ${name}`);
    parts.push(`## ${name}\n\n${await measure(name)}`);
  }
  console.log(`\n# Measured\n\n${about}\n\n${parts.join('\n\n')}`);
}

async function measure(name) {
  const { brief = [] } = await import(`./${name}/main.mjs`);
  // Determines for each command separately whether it fails.
  const failedBefore = process.exitCode;
  process.exitCode = undefined;
  try {
    const { tables, reasons } = await runBench(name, brief);
    const warning = reasons.length === 0 ? '' : `**Not to be recorded:** ${reasons.join('; ')}.\n\n`;
    return `\`npm run bench -- ${[name, ...brief].join(' ')}\`\n\n${warning}${toMarkdown(tables, 3)}`;
  } catch (error) {
    process.exitCode = 1;
    console.error(error);
    return `Failed: ${error.message}`;
  } finally {
    process.exitCode ??= failedBefore;
  }
}

function describeMachine() {
  const lines = [
    ['Processor', `${os.cpus()[0]?.model}, ${os.availableParallelism()} cores`],
    ['Memory', `${Math.round(os.totalmem() / 2 ** 30)} GiB`],
    ['Kernel', `${os.type()} ${os.release()}`],
    ['Node', process.version],
    ['Redis', versionOf('redis-server')],
    ['PostgreSQL', versionOf('psql')],
    ['Load when it began', os.loadavg()[0].toFixed(1)],
    ['Date', new Date().toISOString().slice(0, 10)],
  ];
  return lines.map(([what, value]) => `- ${what}: ${value}`).join('\n');
}

function versionOf(program) {
  try {
    return /\d+\.\d+(\.\d+)?/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0] ?? 'unknown';
  } catch {
    return 'not installed';
  }
}
