import { randomInt } from 'node:crypto';

/** Rows that all processes add to are kept once for each shard: processes then wait for each other by chance only, and reads add them up. */
const SHARDS = 64;

/** What belongs to no process: what was counted before there were shards, and what is gathered from those that nobody writes any more. */
export const COMMON_SHARD = 0;

/** The shard of this process. */
export const OWN_SHARD = randomInt(COMMON_SHARD + 1, SHARDS);
