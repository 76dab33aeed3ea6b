// A service that holds calls and has budgets.
import { KEYS, startNode, startStandIn } from '../calls/parts.mjs';
import { openTalking, PATIENT } from '../calls/talking.mjs';
import { treeCpuSeconds } from '../support/cpu.mjs';
import { AS_IN_SERVICE, startPostgres } from '../support/postgres.mjs';
import { startRedis } from '../support/redis.mjs';
import { makeBudgets } from './budgets.mjs';

const SERVICE_TOKEN = 'service-token-that-only-this-bench-knows';

/**
 * Starts the service. Its `parts` return microseconds of CPU, and the number of statements.
 * @param options the numbers of held `calls` and of budgets (`count`); `dist`: another build
 */
export async function startTalkers(start, { calls, count, dist }) {
  const database = await start(startPostgres(AS_IN_SERVICE));
  const redis = await start(startRedis());
  const provider = await start(startStandIn());
  const environment = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SERVICE_TOKENS: SERVICE_TOKEN,
    ...provider.environment,
    ...PATIENT,
  };
  const node = await start(startNode(environment, { dist }));
  await makeBudgets(node.port, SERVICE_TOKEN, { tenantId: 'acme', keyId: 'site', agentId: 'support' }, count);
  await openTalking(node, provider, { calls, widgetKey: KEYS.site });
  const parts = {
    ofServer: () => node.cpuSeconds() * 1e6,
    ofDatabase: () => treeCpuSeconds(database.pid) * 1e6,
    statements: () => database.statements(),
  };
  return { calls, provider, parts };
}
