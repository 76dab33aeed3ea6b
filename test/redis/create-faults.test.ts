import { afterAll, beforeAll, describe } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { openLiveStores } from '../../src/app/stores.ts';
import { thisNode } from '../../src/node/this-node.ts';
import { createPostgresStores } from '../../src/stores/postgres.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import { createEvents } from '../../src/telemetry/events.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { describeCreateFaults } from '../features/sessions/create-faults.ts';
import { ManualClock } from '../support/clock.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { patiently } from '../support/switchboard.ts';
import { useApps } from '../support/use-apps.ts';

const missing = reasonToSkipRedis();

describe.skipIf(missing !== undefined)(`With Redis ${missing ?? ''}`, () => {
  const { buildForFile, database } = useApps();
  let service: RedisService;
  let live: LiveStores;

  beforeAll(async () => {
    service = await startRedis();
  });
  afterAll(async () => {
    await live.close();
    await service.stop();
  });

  describeCreateFaults(async () => {
    const clock = new ManualClock();
    const { history, clockAgreements } = createPostgresStores(database());
    live = await openLiveStores(readConfig({ NODE_ENV: 'test', REDIS_URL: service.url, ...patiently }), {
      node: thisNode.id,
      history,
      events: createEvents(createLog('silent', false), new Metrics()),
      localClock: clock,
      clockAgreements,
      onError: () => undefined,
    });
    // Sweeps only look at stores that have been restored.
    await live.restoreWhatIsLost(() => Promise.resolve());
    // The live stores' time is also advanced by hand.
    return buildForFile({ live: { ...live, clock }, clock });
  }, ['brokered']);
});
