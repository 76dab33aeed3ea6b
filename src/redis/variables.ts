import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** A prefix of keys in Redis. It contains no braces, because they would replace the hash tags that keep keys together in a cluster. */
const keyPrefix: z.ZodType<string, string> = z
  .string()
  .regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, colons, dashes or underscores');

export const redis = {
  redisUrls: variable(
    'REDIS_URL',
    s.list.pipe(z.array(s.url(['redis', 'rediss'])).min(1, 'must name at least one server')),
    { unset: 'unset: in-process' },
    'the store for edge rate limits and the live registry; a comma-separated list for a cluster',
    { example: 'redis://redis.example.com:6379', production: true, workers: true, secret: 'in addresses' },
  ),
  redisPrefix: variable(
    'REDIS_PREFIX',
    keyPrefix,
    'switchboard',
    'prefix of all keys and channels in Redis, so that several products can share one',
  ),
  redisDeadlineMs: variable(
    'REDIS_DEADLINE_MS',
    s.integer(100, 60_000),
    '450',
    'milliseconds allowed for one call to Redis before Redis counts as away',
  ),
};
