import { availableParallelism } from 'node:os';
import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

const MAX_WORKERS = 256;

/** A number of processes, or `auto` for one per core. */
const workers: z.ZodType<number> = z
  .string()
  .regex(/^(auto|\d{1,3})$/, `must be auto or a whole number from 1 to ${MAX_WORKERS}`)
  .transform((text) => (text === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : Number(text)))
  .pipe(z.number().min(1, 'must be at least 1').max(MAX_WORKERS, `must be at most ${MAX_WORKERS}`));

/** What the process is, and where it listens. */
export const service = {
  mode: variable(
    'NODE_ENV',
    s.choice(['development', 'test', 'production']),
    'development',
    'in production the service refuses to start with incomplete settings',
  ),
  host: variable(
    'HOST',
    z.string().min(1),
    { unset: 'production: 0.0.0.0; development: 127.0.0.1, this machine alone' },
    'listen address',
    { example: '0.0.0.0' },
  ),
  port: variable('PORT', s.integer(0, 65_535), '3000', 'listen port; 0 picks a free one and prints it'),
  workers: variable(
    'WORKERS',
    workers,
    '1',
    'processes that share the port; auto: one for each core; more than one need DATABASE_URL and REDIS_URL',
    { example: 'auto' },
  ),
  maxConnections: variable(
    'MAX_CONNECTIONS',
    s.integer(0, 10_000_000),
    '0',
    'connections that one process accepts, including sockets; 0: as many as its limit for open files allows',
  ),
};

export const inspect = variable(
  'INSPECT',
  s.boolean,
  'false',
  'true: inspectors of XState may attach on this machine, at ws://localhost:PORT/api/operator/inspect; never in production',
);
