// The product with a PostgreSQL and a Redis of its own, and what its requests cost them.
import { startSwitchboard } from '../switchboard.mjs';
import { treeCpuSeconds } from './cpu.mjs';
import { AS_IN_SERVICE, startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';

/** Starts all three; `storeCost` returns the statements, script calls and CPU seconds of the stores so far. */
export async function startWithStores(environment = {}, more = {}) {
  const parts = [];
  const start = async (part) => {
    const started = await part;
    parts.unshift(started);
    return started;
  };
  const stop = async () => {
    for (const part of parts) await part.stop();
  };
  try {
    const database = await start(startPostgres(AS_IN_SERVICE));
    const redis = await start(startRedis());
    // On a busy machine a call easily exceeds the usual deadline, and then a refusal would be measured.
    const addresses = { DATABASE_URL: database.url, REDIS_URL: redis.url, REDIS_DEADLINE_MS: '5000' };
    const server = await start(startSwitchboard({ ...addresses, ...environment }, more));
    const storeCost = async () => {
      const { calls, cpuSeconds } = await redis.cost();
      const databaseCpu = treeCpuSeconds(database.pid);
      return { statements: await database.statements(), scripts: calls, redisCpu: cpuSeconds, databaseCpu };
    };
    return { ...server, storeCost, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
