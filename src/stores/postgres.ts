import type { Database } from '../database/database.ts';
import { createPostgresAudit } from './audit/postgres.ts';
import { createPostgresChallenges } from './challenges/postgres.ts';
import { createPostgresCounters } from './counters/postgres.ts';
import { createPostgresInstallation } from './installation/postgres.ts';
import { createPostgresKeySlots } from './key-slots/postgres.ts';
import { createPostgresLedger } from './ledger/postgres.ts';
import { createPostgresLogins } from './logins/postgres.ts';
import { createPostgresReplays } from './replays/postgres.ts';
import { createPostgresRetention } from './retention/postgres.ts';
import { createPostgresTenants } from './tenants/postgres.ts';
import { createPostgresVoiceHistory } from './voice-history/postgres.ts';

/** The stores that keep what must never be lost, on one database. */
export type DurableStores = ReturnType<typeof createPostgresStores>;

export function createPostgresStores(database: Database) {
  return {
    audit: createPostgresAudit(database),
    challenges: createPostgresChallenges(database),
    counters: createPostgresCounters(database),
    history: createPostgresVoiceHistory(database),
    installation: createPostgresInstallation(database),
    keySlots: createPostgresKeySlots(database),
    ledger: createPostgresLedger(database),
    logins: createPostgresLogins(database),
    replays: createPostgresReplays(database),
    retention: createPostgresRetention(database),
    tenants: createPostgresTenants(database),
  };
}
