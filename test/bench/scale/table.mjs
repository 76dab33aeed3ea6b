// One row per figure, with the two servers next to each other.
import { median } from '../support/measure.mjs';
import { spread } from '../support/rounds.mjs';

export function tableOf({ sides, restShares, beats, created, read, late }, { rounds, seconds, connections, due }) {
  const [small, large] = sides;
  const of = (results, field) => results.map((result) => median(result.map((round) => round[field])));
  const line = (figure, [a, b], ratio, goal = '') => ({
    figure,
    [headOf(small)]: a,
    [headOf(large)]: b,
    'large to small': ratio,
    goal,
  });
  /** Compares rounds that were measured next to each other. */
  const ratio = (field) =>
    spread(
      beats[1].map((round, n) => round[field] / beats[0][n][field]),
      2,
    );
  const seen = ({ actedMs, writtenMs }) =>
    [actedMs, writtenMs].map((ms) => `${median(ms).toFixed(0)} / ${Math.max(...ms).toFixed(0)}`).join('; ');
  const rows = [
    line('heartbeat, p99 us', of(beats, 'p99Us'), ratio('p99Us'), 'at most 2'),
    line('heartbeat, p50 us', of(beats, 'p50Us'), ratio('p50Us')),
    line(
      'heartbeat, CPU us',
      of(beats, 'cpuUs').map((us) => us.toFixed(2)),
      ratio('cpuUs'),
      'at most 1.3',
    ),
    line(
      'CPU at rest, % of a core',
      restShares.map((share) => (share * 100).toFixed(2)),
      '',
      'at most 2 more',
    ),
    line('deadlines, ms late, median / most: acted upon; in the history', late.map(seen), '', 'at most 2000'),
    line(
      'create, CPU us',
      created.map((us) => median(us).toFixed(0)),
      spread(
        created[1].map((us, n) => us / created[0][n]),
        2,
      ),
    ),
    ...read.map(({ name, ms }) =>
      line(
        `${name}, ms`,
        ms.map((each) => each.toFixed(1)),
        (ms[1] / ms[0]).toFixed(2),
      ),
    ),
    line(
      'start, s',
      sides.map(({ startedSec }) => startedSec.toFixed(1)),
      (large.startedSec / small.startedSec).toFixed(2),
    ),
    line(
      'database, MB',
      sides.map(({ size }) => (size / 1e6).toFixed(0)),
      '',
    ),
  ];
  return {
    title: `Many sessions and many rows, PostgreSQL`,
    goal: 'P5, R12: heartbeat p99 at most twice, its CPU at most 1.3 times, deadlines at most 2 s late, sweep at most 2 % of a core',
    rows,
    notes: [
      `${rounds} rounds of ${seconds} s, ${connections} connections; ${late.map(({ actedMs }) => actedMs.length).join(' and ')} of ` +
        `${due} deadlines each fell after the start.`,
    ],
  };
}

const headOf = ({ live, rows }) => `${live} live, ${rows} rows`;
