// What a session costs services that each have a PostgreSQL and a Redis, interleaved.
import { createSessions, endSessions, startSwitchboard } from '../switchboard.mjs';
import { costRows } from './costs.mjs';
import { cpuSeconds, treeCpuSeconds } from './cpu.mjs';
import { canPin } from './measure.mjs';
import { AS_IN_SERVICE, startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';
import { interleave } from './rounds.mjs';

/**
 * Starts the product with stores of its own.
 * @returns `port`, `databaseUrl`, `stop()`, and `cost()`: CPU seconds so far of the `server` and the `database`, and `statements`
 */
export async function startService(environment, dist) {
  const parts = [];
  const keep = (part) => {
    parts.unshift(part);
    return part;
  };
  const stop = async () => {
    for (const part of parts) await part.stop();
  };
  try {
    const database = keep(await startPostgres(AS_IN_SERVICE));
    const redis = keep(await startRedis());
    const settings = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      // On a busy machine a store easily exceeds the usual deadline, and then a refusal would be measured.
      DATABASE_DEADLINE_MS: '5000',
      REDIS_DEADLINE_MS: '5000',
      RATE_USER_PER_MIN: '1000000000',
      ...environment,
    };
    const server = keep(await startSwitchboard(settings, { dist }));
    const cost = async () => ({
      server: cpuSeconds(server.pid),
      database: treeCpuSeconds(database.pid),
      statements: await database.statements(),
    });
    return { port: server.port, databaseUrl: database.url, cost, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Creates and ends sessions on each service, once to warm up and then in rounds.
 * @param services of `startService`, each with a `label`; the first is the yardstick for the others
 * @param afterEach awaited after each round of a service, and not measured
 * @returns the rows of a table
 */
export async function sessionCosts(services, rounds, creates, afterEach = async () => {}) {
  const measured = services.map((service) => ({ ...service, results: [] }));
  const once = async ({ port }) => endSessions(port, await createSessions(port, creates));
  for (const service of measured) {
    await once(service);
    await afterEach(service);
  }
  await interleave(rounds, measured, async (service) => {
    const before = await service.cost();
    await once(service);
    const after = await service.cost();
    await afterEach(service);
    const each = (field, scale = 1) => ((after[field] - before[field]) * scale) / creates;
    const [ofServer, ofDatabase] = [each('server', 1e6), each('database', 1e6)];
    service.results.push({ ofServer, ofDatabase, statements: each('statements') });
  });
  return costRows(measured);
}

/** A note that says how `sessionCosts` measures. */
export function costNote(rounds, creates) {
  return `${rounds} rounds of ${creates} sessions, 32 at once, ${canPin ? 'servers on core 0, all else on core 1' : 'not pinned'}.`;
}
