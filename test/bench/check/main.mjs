// Whether heartbeats still cost what they did: short interleaved runs of `http` and `socket`, against ratios that were recorded before.
import { readFile, writeFile } from 'node:fs/promises';
import { run as runHttp } from '../http/main.mjs';
import { run as runSocket } from '../socket/main.mjs';
import { readOptions } from '../support/options.mjs';

/** Servers whose load keeps up with them are busier than that. */
const IDLE_BELOW = 0.4;
const MAY_FALL_TO = 0.8;

const usage = `Compares the CPU of a heartbeat, as the ratio of the bare server's to ours, with test/bench/baseline.json, and fails when one fell
by more than a fifth. Where this machine does other work, so that a server has its core for less than ${IDLE_BELOW} of the time, it neither
records nor judges, and fails as well.
Options:
  --rounds <n>   interleaved rounds, medians are compared (7)
  --seconds <n>  measured seconds per round and server (1)
  --record       writes the file in the place of comparing`;

const baseline = new URL('../baseline.json', import.meta.url);

export async function run(args) {
  const options = readOptions(args, usage, { rounds: 7, seconds: 1, record: false });
  if (options === undefined) return [];
  const common = ['--rounds', String(options.rounds), '--seconds', String(options.seconds)];
  const tables = [
    ...(await runHttp([...common, '--only', 'bare,same,switchboard'])),
    ...(await runSocket([...common, '--only', 'echo,switchboard'])),
  ];
  const idle = tables.find(({ busy }) => busy < IDLE_BELOW);
  if (idle !== undefined) {
    process.exitCode = 1;
    const note = `Nothing is said: a server had its core for ${idle.busy.toFixed(2)} of the time only, because this machine does other work.`;
    return [...tables.slice(0, -1), { ...tables.at(-1), notes: [...tables.at(-1).notes, note] }];
  }
  const measured = Object.fromEntries(
    tables.map(({ title, ratios }) => [title, Number(ratios.switchboard.toFixed(3))]),
  );
  if (options.record) await writeFile(baseline, `${JSON.stringify(measured, undefined, 2)}\n`);
  return [...tables, compare(measured, await readRecorded())];
}

async function readRecorded() {
  try {
    return JSON.parse(await readFile(baseline, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return {};
  }
}

/** Sets a failing exit code when one fell too far, or has nothing to be compared with. */
function compare(measured, recorded) {
  const rows = Object.entries(measured).map(([name, ratio]) => {
    const before = recorded[name];
    const holds = before !== undefined && ratio >= before * MAY_FALL_TO;
    if (!holds) process.exitCode = 1;
    return {
      of: name,
      recorded: before ?? 'nothing',
      measured: ratio,
      'at least': ((before ?? 0) * MAY_FALL_TO).toFixed(3),
      holds,
    };
  });
  return { title: 'CPU of a heartbeat, the bare server to ours, against what was recorded', rows };
}
