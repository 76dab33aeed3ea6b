import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

export const database = {
  databaseUrl: variable(
    'DATABASE_URL',
    s.url(['postgres', 'postgresql']),
    { unset: 'unset: embedded PostgreSQL in DATA_DIR' },
    'the database',
    {
      example: 'postgres://switchboard:password@db.example.com:5432/switchboard',
      production: true,
      workers: true,
      secret: 'in address',
    },
  ),
  databaseDeadlineMs: variable(
    'DATABASE_DEADLINE_MS',
    s.integer(100, 60_000),
    { unset: 'unset: 800, of the embedded one 5000' },
    'milliseconds allowed for one call to the database before its request is answered 503',
  ),
};

export const migrations = variable(
  'MIGRATE',
  s.choice(['start', 'never']),
  'start',
  'start: the service migrates the database when it starts; never: only the command migrate does, and the service refuses to start before that',
);

export const dataDir = variable('DATA_DIR', z.string().min(1), './data', 'directory of the embedded storage');
