// `npm run bench` without a name: every command, shortly, and one Markdown document of what they measured.
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { printTables, toMarkdown } from './support/tables.mjs';

/** A command that fails is told of in the document, and makes the run fail; the others still run. */
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
  const { run, brief = [] } = await import(`./${name}/main.mjs`);
  try {
    const tables = (await run(brief)) ?? [];
    printTables(tables);
    return `\`npm run bench -- ${[name, ...brief].join(' ')}\`\n\n${toMarkdown(tables, 3)}`;
  } catch (error) {
    process.exitCode = 1;
    console.error(error);
    return `Failed: ${error.message}`;
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
    ['wrk', versionOf('wrk')],
    ['Load when it began', os.loadavg()[0].toFixed(1)],
    ['Date', new Date().toISOString().slice(0, 10)],
  ];
  return lines.map(([what, value]) => `- ${what}: ${value}`).join('\n');
}

function versionOf(program) {
  try {
    return /\d+\.\d+(\.\d+)?/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0] ?? 'unknown';
  } catch (error) {
    // wrk tells its version and fails.
    return /\d+\.\d+(\.\d+)?/.exec(error.stdout ?? '')?.[0] ?? 'not installed';
  }
}
