import { availableParallelism } from 'node:os';
import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';
import { isOrigin } from '../kernel/addresses.ts';

const MAX_WORKERS = 256;

/** A number of processes, or `auto` for one per core. */
const workers: z.ZodType<number> = z
  .string()
  .regex(/^(auto|\d{1,3})$/, `must be auto or a whole number from 1 to ${MAX_WORKERS}`)
  .transform((text) => (text === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : Number(text)))
  .pipe(z.number().min(1, 'must be at least 1').max(MAX_WORKERS, `must be at most ${MAX_WORKERS}`));

/** The service's own origin, without the trailing slash that address bars add. */
const ownOrigin: z.ZodType<string, string> = z
  .string()
  .transform((text) => text.replace(/\/$/, ''))
  .refine(isOrigin, 'must be the address that browsers use, such as https://voice.example.com, without a path');

/** Variables of the process: what it is, where it listens, what it logs. */
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
  publicUrl: variable(
    'PUBLIC_URL',
    ownOrigin,
    { unset: 'http://localhost:PORT' },
    "the service's own origin, for cookies (Secure when https), the CSRF check and links",
    { example: 'https://voice.example.com', production: true },
  ),
  trustedProxies: variable(
    'TRUST_PROXY',
    s.networks,
    '',
    'comma-separated CIDRs of proxies whose X-Forwarded-For is trusted',
    { unset: 'unset: trust nobody', example: '10.0.0.0/8' },
  ),
  logLevel: variable(
    'LOG_LEVEL',
    s.choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info',
    'how much is logged; debug logs each request and each transition',
  ),
  debugMetrics: variable(
    'DEBUG_METRICS',
    s.boolean,
    'false',
    'true: /metrics needs no credential and replies carry Server-Timing',
  ),
  inspect: variable(
    'INSPECT',
    s.boolean,
    'false',
    'true: inspectors of XState may attach on this machine, at ws://localhost:PORT/api/operator/inspect; never in production',
  ),
};
