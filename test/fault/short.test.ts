import { describe, expect, test } from 'vitest';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis } from '../support/services/redis.ts';
import { runCampaign } from './campaign.ts';
import { isTimed } from './judge.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const SECOND = 1000;
/** Long enough for a session that ends by its duration, and for every kind of fault. */
const DURATION_MS = 75 * SECOND;

/** See run.mjs for a longer one. */
describe.skipIf(reason !== undefined)(
  `Three nodes with Redis and PostgreSQL${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    test(
      'keep every promise that is not about time while nodes and dependencies are killed, frozen, emptied and cut off',
      { timeout: 240 * SECOND },
      async () => {
        const say = (): void => undefined;
        const options = { seed: 7, durationMs: DURATION_MS, nodes: 3, hasRedis: true, hasFaults: true, say };
        const { findings, text } = await runCampaign(options);
        const broken = Object.entries(findings).filter(([rule, what]) => what.length > 0 && !isTimed(rule));
        expect(broken, text).toEqual([]);
      },
    );
  },
);
