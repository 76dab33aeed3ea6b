// One row per figure, with the sides next to each other.
import { canPin, median } from '../support/measure.mjs';
import { spread } from '../support/rounds.mjs';

const BEAT_SEC = 45;
const LIFE_SEC = 600;
const LOAD = 0.6;

export function tableOf(sides, { rounds, seconds, connections, rate }) {
  const [small, ...others] = sides;
  const line = (figure, of, goal = '', ratio = () => '') => ({
    figure,
    ...Object.fromEntries(sides.map((side) => [side.label, of(side)])),
    ...Object.fromEntries(others.map((side, n) => [n === 0 ? 'large to small' : 'other to small', ratio(side)])),
    goal,
  });
  /** Compares rounds that were measured next to each other. */
  const ratioOf = (name, of) => (side) =>
    spread(
      side[name].map((round, n) => of(round) / of(small[name][n])),
      2,
    );
  const byRound = (figure, name, of, digits, goal) =>
    line(figure, (side) => median(side[name].map(of)).toFixed(digits), goal, ratioOf(name, of));
  const costs = (figure, name, goal) => [
    byRound(`${figure}, CPU us of all`, name, allOf, 0, goal),
    line('of processes, Redis, PostgreSQL', (side) =>
      ['nodes', 'redis', 'postgres']
        .map((part) => median(side[name].map(({ cost }) => cost[part])).toFixed(0))
        .join(', '),
    ),
  ];
  const perSession = (part) =>
    line(
      part === 'process' ? 'memory of one process, MB' : `${part}, MB`,
      ({ memory }) => (memory[part] / 1e6).toFixed(0),
      '',
      ({ memory, live }) =>
        `${((memory[part] - small.memory[part]) / (live - small.live) / 1000).toFixed(2)} kB a session`,
    );
  const rows = [
    byRound('heartbeat, p50 us', 'beats', ({ p50Us }) => p50Us, 0),
    byRound('heartbeat, p99 us', 'beats', ({ p99Us }) => p99Us, 0, 'at most 2'),
    ...costs('heartbeat', 'beats', 'at most 1.3'),
    ...costs('create and end', 'lives'),
    line('CPU at rest, % of a core, of processes, Redis, PostgreSQL', ({ rest }) =>
      Object.values(rest)
        .map((share) => (share * 100).toFixed(1))
        .join(', '),
    ),
    line('deadlines, ms late, median / most: acted upon; in the history', seen, 'at most 2000'),
    perSession('process'),
    perSession('redis'),
    perSession('postgres'),
    line('start of the first process, s', ({ startSec }) => startSec.toFixed(1)),
    line('sessions a core', (side) => (side === small ? '' : sessionsACore(side).toLocaleString('en'))),
    line('a million session-minutes, core-minutes', (side) => (side === small ? '' : costOfSession(side).toFixed(1))),
  ];
  return {
    title: 'Very many live sessions, four processes, Redis and PostgreSQL',
    goal: 'P14: a heartbeat p99 at most twice that at 1,000; P5: its CPU at most 1.3 times; deadlines at most 2 s late',
    rows,
    notes: [
      `${rounds} rounds of ${seconds} s, ${rate} heartbeats per second over HTTP, ${connections} connections to each process, ` +
        `${canPin ? 'processes on core 0; load, Redis and PostgreSQL on core 1' : 'not pinned'}. The latency is that of the slowest process and ` +
        'counts from the moment at which a heartbeat was due. CPU is what the work adds to the use at rest.',
      `"sessions a core": at ${LOAD * 100} % of a core for processes, Redis and PostgreSQL together, with a heartbeat every ${BEAT_SEC} s over ` +
        `HTTP and sessions of ${LIFE_SEC / 60} minutes. The cost of a million session-minutes is counted in the same way.`,
    ],
  };
}

const sum = (parts) => Object.values(parts).reduce((total, value) => total + value, 0);
const allOf = ({ cost }) => sum(cost);

/** Microseconds of CPU that one session takes per second: core-seconds of a million sessions, so also core-minutes of a million session-minutes. */
function costOfSession({ beats, lives, rest, live }) {
  return median(beats.map(allOf)) / BEAT_SEC + median(lives.map(allOf)) / LIFE_SEC + (sum(rest) * 1e6) / live;
}

function sessionsACore(side) {
  return Math.round((LOAD * 1e6) / costOfSession(side) / 1000) * 1000;
}

function seen({ late: { actedMs, writtenMs } }) {
  if (actedMs.length === 0) return 'none was due';
  return [actedMs, writtenMs].map((ms) => `${median(ms).toFixed(0)} / ${Math.max(...ms).toFixed(0)}`).join('; ');
}
