import type { Database } from '../database/database.ts';
import { createPostgresActivity } from './activity/postgres.ts';
import { createPostgresBudgets } from './budgets/postgres.ts';
import { createPostgresBudgetStates } from './budgets/postgres-states.ts';
import { createPostgresBudgetUse } from './budgets/postgres-use.ts';
import { createPostgresCallTickets, createPostgresResumeTokens } from './call-tickets/postgres.ts';
import { createPostgresChallenges, createPostgresLoginAddresses, createPostgresLogins } from './logins/postgres.ts';
import { createPostgresClockAgreements } from './clock/postgres.ts';
import { createPostgresCounters } from './counters/postgres.ts';
import { createPostgresHolds } from './holds/postgres.ts';
import { createPostgresInstallation } from './installation/postgres.ts';
import type { DurableStores } from './contract.ts';
import { createPostgresFormerTables, type FormerTables } from './journal/former-tables.ts';
import { createPostgresJournal } from './journal/postgres.ts';
import { createPostgresKeySlots } from './key-slots/postgres.ts';
import { createPostgresLedger } from './ledger/postgres.ts';
import { createPostgresReconciliations } from './reconciliations/postgres.ts';
import { createPostgresIdempotentReplies } from './idempotent-replies/postgres.ts';
import { createPostgresLiveNodes, createPostgresRequestTimes } from './nodes/postgres.ts';
import { createPostgresRetention } from './retention/postgres.ts';
import { createPostgresSavedViews } from './saved-views/postgres.ts';
import { createPostgresSessionSetups } from './session-setups/postgres.ts';
import { createPostgresSessionTraces } from './session-traces/postgres.ts';
import { createPostgresTenantSecrets } from './tenant-secrets/postgres.ts';
import { createPostgresTenants } from './tenants/postgres.ts';
import { createPostgresToolCalls, createPostgresVoiceCalls } from './voice-calls/postgres.ts';
import { createPostgresUsageReports } from './usage-reports/postgres.ts';
import { createPostgresVoiceHistory } from './voice-history/postgres.ts';
import { createPostgresWebhooks } from './webhooks/postgres.ts';

/** The durable stores of one database, and the tables that earlier builds wrote. */
export interface PostgresStores extends DurableStores {
  readonly formerTables: FormerTables;
}

export function createPostgresStores(database: Database): PostgresStores {
  return {
    activity: createPostgresActivity(database),
    budgets: createPostgresBudgets(database),
    budgetStates: createPostgresBudgetStates(database),
    budgetUse: createPostgresBudgetUse(database),
    callTickets: createPostgresCallTickets(database),
    calls: createPostgresVoiceCalls(database),
    challenges: createPostgresChallenges(database),
    clockAgreements: createPostgresClockAgreements(database),
    counters: createPostgresCounters(database),
    formerTables: createPostgresFormerTables(database),
    history: createPostgresVoiceHistory(database),
    holds: createPostgresHolds(database),
    installation: createPostgresInstallation(database),
    journal: createPostgresJournal(database),
    keySlots: createPostgresKeySlots(database),
    ledger: createPostgresLedger(database),
    liveNodes: createPostgresLiveNodes(database),
    loginAddresses: createPostgresLoginAddresses(database),
    logins: createPostgresLogins(database),
    reconciliations: createPostgresReconciliations(database),
    idempotentReplies: createPostgresIdempotentReplies(database),
    requestTimes: createPostgresRequestTimes(database),
    resumeTokens: createPostgresResumeTokens(database),
    retention: createPostgresRetention(database),
    savedViews: createPostgresSavedViews(database),
    sessionSetups: createPostgresSessionSetups(database),
    sessionTraces: createPostgresSessionTraces(database),
    tenantSecrets: createPostgresTenantSecrets(database),
    tenants: createPostgresTenants(database),
    toolCalls: createPostgresToolCalls(database),
    usageReports: createPostgresUsageReports(database),
    webhooks: createPostgresWebhooks(database),
  };
}
