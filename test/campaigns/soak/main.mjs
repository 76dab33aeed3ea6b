// docs/goals.md, P4 and R10: holds sockets with heartbeats on one process for minutes; memory must stay flat and no socket may be lost.
import { readFileSync } from 'node:fs';
import { firstMatch, spawnNode, stopChild } from '../../bench/support/measure.mjs';
import { checkOpenFiles } from '../../bench/support/open-files.mjs';
import { readOptions } from '../../bench/support/options.mjs';
import { createSessions, startSwitchboard } from '../../bench/switchboard.mjs';

const usage = `Options:
  --sockets <n>    sockets, each with a session of its own (10000)
  --minutes <n>    how long they are held (10)
  --interval <n>   seconds between two heartbeats of a socket (45)
  --clients <n>    processes that hold them (2)
  --database <url> PostgreSQL instead of the embedded database, whose memory grows with what is in it
  --heap <n>       MB that V8 may use: collects often, so that garbage hides no growth (as much as it likes)
  --bare           bare uWebSockets.js sockets instead, for the cost of those alone`;

/** Runs the soak. Sets a failing exit code when a socket was lost, a heartbeat went unanswered, or memory grew by a tenth. */
export async function run(args) {
  const defaults = { sockets: 10_000, minutes: 10, interval: 45, clients: 2, database: '', heap: 0, bare: false };
  const options = readOptions(args, usage, defaults);
  if (options === undefined) return;
  const { sockets } = options;
  checkOpenFiles(sockets);
  const server = options.bare ? await startBare() : await startSwitchboard(environmentOf(options));
  const crowd = new Crowd();
  try {
    await sleep(3000);
    const atRest = memory(server.pid);
    console.log(`at rest ${megabytes(atRest.rss)} MB`);
    const sessions = options.bare ? Array.from({ length: sockets }) : await createSessions(server.port, sockets);
    await sleep(3000);
    const created = memory(server.pid);
    console.log(`${sockets} sessions without sockets ${megabytes(created.rss)} MB`);
    crowd.start(server.port, sessions, options.clients, options.interval);
    await crowd.whole(sockets);
    report(await hold(server, crowd, options.minutes * 60), { atRest, created, sockets, crowd });
  } finally {
    await crowd.stop();
    await server.stop();
  }
}

function environmentOf({ database, heap }) {
  return {
    // A log line for each session would measure the terminal.
    LOG_LEVEL: 'error',
    ...(database === '' ? {} : { DATABASE_URL: database }),
    ...(heap === 0 ? {} : { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
  };
}

async function startBare() {
  const child = spawnNode(0, [`${import.meta.dirname}/../../bench/socket/servers/bare.mjs`, 'answer']);
  const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
  return { port: Number(port), pid: child.pid, stop: () => stopChild(child) };
}

/** The processes that hold the sockets, and the sums of their counts. */
class Crowd {
  #children = [];
  #latest = [];

  start(port, sessions, processes, intervalSec) {
    const share = Math.ceil(sessions.length / processes);
    for (let index = 0; index < processes; index += 1) {
      const child = spawnNode(1, [`${import.meta.dirname}/clients.mjs`], { stdio: ['pipe', 'pipe', 'inherit'] });
      // Each process has an address of its own, because one address has only 28,000 ports.
      const localAddress = `127.0.0.${index + 2}`;
      const mine = sessions.slice(index * share, (index + 1) * share);
      child.stdin.end(JSON.stringify({ port, localAddress, intervalSec, sessions: mine }));
      let rest = '';
      child.stdout.on('data', (chunk) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        if (lines.length > 0) this.#latest[index] = JSON.parse(lines.at(-1));
      });
      this.#children.push(child);
    }
  }

  get counts() {
    const sum = { held: 0, beats: 0, answers: 0, lost: 0, unanswered: 0, refused: 0, p99Ms: 0, first: undefined };
    for (const counts of this.#latest.filter(Boolean)) {
      for (const name of ['held', 'beats', 'answers', 'lost', 'unanswered', 'refused']) sum[name] += counts[name];
      sum.p99Ms = Math.max(sum.p99Ms, counts.p99Ms);
      sum.first ??= counts.first;
    }
    return sum;
  }

  /** Resolves when all sockets are attached. */
  async whole(sockets) {
    const startedAt = performance.now();
    while (this.counts.held < sockets) {
      if (performance.now() - startedAt > 120_000 || this.counts.lost > 0)
        throw new Error(`only ${this.counts.held} of ${sockets} sockets are attached: ${JSON.stringify(this.counts)}`);
      await sleep(200);
    }
    console.log(`${sockets} sockets attached in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }

  stop() {
    return Promise.all(this.#children.map(stopChild));
  }
}

/** Looks every ten seconds and prints what it sees. */
async function hold(server, crowd, seconds) {
  const looks = [];
  let cpuBefore = cpuSeconds(server.pid);
  for (let second = 10; second <= seconds; second += 10) {
    await sleep(10_000);
    const cpu = cpuSeconds(server.pid);
    const look = { second, ...memory(server.pid), ...crowd.counts, cpuShare: (cpu - cpuBefore) / 10 };
    cpuBefore = cpu;
    looks.push(look);
    console.log(
      `${String(second).padStart(5)} s  RSS ${megabytes(look.rss)} MB (heap and the like ${megabytes(look.anonymous)})  ` +
        `held ${look.held}  beats ${look.beats}  unanswered ${look.unanswered}  lost ${look.lost}  ` +
        `p99 ${look.p99Ms.toFixed(1)} ms  CPU ${(look.cpuShare * 100).toFixed(0)} %`,
    );
  }
  return looks;
}

function report(looks, { atRest, created, sockets, crowd }) {
  const last = looks.at(-1);
  if (last === undefined) return;
  const perSession = (bytes) => `${(bytes / sockets / 1000).toFixed(2)} kB`;
  // Garbage piles up between two full collections, so the lowest look shows what is really held.
  const lowest = Math.min(...looks.map(({ rss }) => rss));
  console.log(
    `\nper session, RSS above that at rest: ${perSession(lowest - atRest.rss)} at its lowest (a full collection`,
  );
  console.log(
    `comes about once a minute), ${perSession(last.rss - atRest.rss)} now, ${perSession(created.rss - atRest.rss)} after creating`,
  );
  console.log(`lost ${last.lost}, refused ${last.refused}, unanswered ${last.unanswered} of ${last.beats} beats`);
  if (crowd.counts.first !== undefined) console.log(`first trouble: ${crowd.counts.first}`);
  const growth = growthOf(looks);
  if (growth !== undefined)
    console.log(`memory, highest of the second half against the first: ${(growth * 100).toFixed(1)} %`);
  if (last.lost + last.refused + last.unanswered > 0 || (growth ?? 0) > 0.1) process.exitCode = 1;
}

/** By how much the peaks of memory grew; undefined when too few garbage collections happened to tell. */
function growthOf(looks) {
  // The first minute is warm-up: code is compiled, and heaps grow to their size.
  const settled = looks.filter(({ second }) => second > 60);
  if (settled.length < 24) return undefined;
  const half = Math.ceil(settled.length / 2);
  const peak = (some) => Math.max(...some.map(({ rss }) => rss));
  return peak(settled.slice(half)) / peak(settled.slice(0, half)) - 1;
}

function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { rss: field('VmRSS'), anonymous: field('RssAnon') };
}

function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
