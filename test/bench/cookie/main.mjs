// Goal P7: the HTTP heartbeat with a console cookie against the same without one, on one server, interleaved.
import { heartbeatsOf } from '../http/requests.mjs';
import { runLoad } from '../http/run-load.mjs';
import { median } from '../support/measure.mjs';
import { readOptions } from '../support/options.mjs';
import { interleave, noteFailures, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { startSwitchboard } from '../switchboard.mjs';
import { logIn } from './log-in.mjs';

const usage = `Options:
  --rounds <n>       interleaved rounds, medians are printed (7)
  --seconds <n>      measured seconds per round and kind of request (2)
  --connections <n>  keep-alive connections (64)
  --other <path>     another build's directory, measured beside the present one`;

export const brief = ['--rounds', '5', '--seconds', '1'];

export async function run(args) {
  const options = readOptions(args, usage, { rounds: 7, seconds: 2, connections: 64, other: '' });
  if (options === undefined) return [];
  return withParts(async (start) => {
    const parts = await partsOf(start, undefined, '');
    if (options.other !== '') parts.push(...(await partsOf(start, options.other, ', other build')));
    await interleave(options.rounds, parts, async (part) => {
      const result = await runLoad(part, options);
      part.results.push(result);
      noteFailures(part.label, result);
    });
    return [tableOf(parts, options)];
  });
}

/** The same requests three times: what the header's bytes cost is told apart from what a login costs. */
async function partsOf(start, dist, label) {
  const server = await start(startSwitchboard({ RATE_USER_PER_MIN: '1000000000' }, { dist }));
  const cookie = await logIn(server.port, 'ops@example.com');
  const foreign = `another=${'x'.repeat(cookie.length - 8)}`;
  const part = async (name, headers) => ({
    ...server,
    label: `${name}${label}`,
    requests: await heartbeatsOf(server, headers),
    results: [],
  });
  return [
    await part('without a cookie', []),
    await part("with another site's cookie of the same length", [`Cookie: ${foreign}`]),
    await part('with the console cookie', [`Cookie: ${cookie}`]),
  ];
}

function tableOf(parts, { rounds, seconds, connections }) {
  const rows = parts.map(({ label, results }, index) => {
    const { results: without } = parts[index - (index % 3)];
    const of = (field) => median(results.map((result) => result[field]));
    return {
      heartbeat: label,
      'req/s': Math.round(of('perSecond')),
      'of first': spread(results.map((result, round) => result.perSecond / without[round].perSecond)),
      'by CPU': spread(results.map((result, round) => without[round].cpuUs / result.cpuUs)),
      'CPU us/req': of('cpuUs').toFixed(2),
      'server busy': of('serverBusy').toFixed(2),
      'p99 us': of('p99Us'),
    };
  });
  return {
    title: `HTTP heartbeat with a console cookie, ${connections} connections`,
    goal: 'P7: 0.93 of the same without',
    rows,
    notes: [`${rounds} rounds of ${seconds} s. One login, whose window counts every request.`],
  };
}
