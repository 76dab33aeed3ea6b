// Goal P8: what a start costs until the server answers, and the memory at rest, against `node -e 0`, interleaved.
import { WrongOption } from '../support/options.mjs';
import { interleave, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { median } from '../support/measure.mjs';
import { kindsOf } from './kinds.mjs';

export const usage = `Options:
  --rounds <n>       interleaved rounds; medians are printed (7)
  --rest <seconds>   seconds for which a server is left alone before its memory and total CPU are read (3)
  --only <text>      only the first kind of start and those with this text in their name
  --other <path>     another build's directory, measured next to the present one`;

export const defaults = { rounds: 7, rest: 3, only: '', other: '' };

export const brief = ['--rounds', '3'];

export async function run(options) {
  return withParts(async (start) => {
    const all = await kindsOf(start, options);
    const parts = all.filter(({ label }, index) => index === 0 || label.includes(options.only));
    if (parts.length === 1)
      throw new WrongOption(`--only ${options.only} matches none of: ${all.map(({ label }) => label).join('; ')}`);
    for (const part of parts) part.results = [];
    await interleave(options.rounds, parts, async (part) => void part.results.push(await part.once()));
    return [tableOf(parts, options)];
  });
}

function tableOf(parts, { rounds, rest }) {
  const [{ results: first }] = parts;
  const rows = parts.map(({ label, results }) => {
    const of = (field) => median(results.map((result) => result[field]));
    const ms = (field) => (results[0][field] === undefined ? '' : Math.round(of(field)));
    return {
      start: label,
      'ms until it answers': ms('wallMs'),
      'of first': spread(
        results.map(({ wallMs }, round) => wallMs / first[round].wallMs),
        1,
      ),
      'CPU ms until then': ms('cpuMs'),
      'of first by CPU': spread(
        results.map(({ cpuMs }, round) => cpuMs / first[round].cpuMs),
        1,
      ),
      [`CPU ms ${rest} s later`]: ms('restCpuMs'),
      'MB at rest': ms('rssMb'),
    };
  });
  return {
    title: 'Starts of the server',
    goal:
      'P8: npm start within 5 s on an empty data directory, 2 s later; with external storage 3 times node -e 0; ' +
      'at rest 190 MB embedded, 75 MB with external storage',
    rows,
    notes: [`${rounds} rounds, Node ${process.version}, on one core. CPU is that of all threads, without npm's own.`],
  };
}
