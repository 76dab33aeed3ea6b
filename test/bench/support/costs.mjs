// What the same work costs several services: CPU of the server and of PostgreSQL, and statements.
import { median } from './measure.mjs';
import { spread } from './rounds.mjs';

/**
 * Rows of a table; the first service is the yardstick for the others.
 * @param services each with a `label` and `results` by round: microseconds of CPU `ofServer` and `ofDatabase`, and `statements`
 */
export function costRows(services) {
  const whole = ({ ofServer, ofDatabase }) => ofServer + ofDatabase;
  const [first] = services;
  return services.map(({ label, results }) => ({
    service: label,
    'CPU us': spread(results.map(whole), 0),
    'of the server': median(results.map(({ ofServer }) => ofServer)).toFixed(0),
    'of PostgreSQL': median(results.map(({ ofDatabase }) => ofDatabase)).toFixed(0),
    'of the first': spread(results.map((result, round) => whole(result) / whole(first.results[round]))),
    statements: spread(
      results.map(({ statements }) => statements),
      2,
    ),
  }));
}
