import type { Database } from '../../src/database/database.ts';
import { createPostgresCallTickets, createPostgresResumeTokens } from '../../src/stores/call-tickets/postgres.ts';
import {
  createPostgresChallenges,
  createPostgresLoginAddresses,
  createPostgresLogins,
} from '../../src/stores/logins/postgres.ts';
import { createPostgresCounters } from '../../src/stores/counters/postgres.ts';
import { createPostgresHolds } from '../../src/stores/holds/postgres.ts';
import { createPostgresClockAgreements } from '../../src/stores/clock/postgres.ts';
import { createPostgresInstallation } from '../../src/stores/installation/postgres.ts';
import { createPostgresKeySlots } from '../../src/stores/key-slots/postgres.ts';
import { createPostgresLedger } from '../../src/stores/ledger/postgres.ts';
import { createPostgresLiveNodes, createPostgresRequestTimes } from '../../src/stores/nodes/postgres.ts';
import { createPostgresBudgetStates } from '../../src/stores/budgets/postgres-states.ts';
import { createPostgresReconciliations } from '../../src/stores/reconciliations/postgres.ts';
import { createPostgresIdempotentReplies } from '../../src/stores/idempotent-replies/postgres.ts';
import { createPostgresRetention } from '../../src/stores/retention/postgres.ts';
import { createPostgresSessionSetups } from '../../src/stores/session-setups/postgres.ts';
import { createPostgresSavedViews } from '../../src/stores/saved-views/postgres.ts';
import { createPostgresTenantSecrets } from '../../src/stores/tenant-secrets/postgres.ts';
import { createPostgresTenants } from '../../src/stores/tenants/postgres.ts';
import { createPostgresToolCalls, createPostgresVoiceCalls } from '../../src/stores/voice-calls/postgres.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { createPostgresWebhooks } from '../../src/stores/webhooks/postgres.ts';
import { activityContract } from './activity.ts';
import { budgetsContract } from './budgets.ts';
import { callTicketsContract } from './call-tickets.ts';
import { resumeTokensContract } from './resume-tokens.ts';
import { callUsageContract } from './call-usage.ts';
import { challengesContract } from './challenges.ts';
import { countersContract } from './counters.ts';
import { formerTablesContract } from './former-tables.ts';
import { holdsContract } from './holds.ts';
import { clockAgreementsContract } from './clock-agreements.ts';
import { journalContract } from './journal.ts';
import { installationContract } from './installation.ts';
import { keySlotsContract } from './key-slots.ts';
import { ledgerContract } from './ledger.ts';
import { loginAddressesContract } from './login-addresses.ts';
import { loginsContract } from './logins.ts';
import { requestTimesContract } from './request-times.ts';
import { reconciliationsContract } from './reconciliations.ts';
import { idempotentRepliesContract } from './idempotent-replies.ts';
import { retentionContract } from './retention.ts';
import { rollUpsContract } from './roll-ups.ts';
import { sessionSetupsContract } from './session-setups.ts';
import { sessionTallyContract } from './session-tally.ts';
import { storesOf, type Make } from './support.ts';
import { savedViewsContract } from './saved-views.ts';
import { tenantSecretsContract } from './tenant-secrets.ts';
import { tenantsContract } from './tenants.ts';
import { toolCallsContract } from './tool-calls.ts';
import { usageReportsContract } from './usage-reports.ts';
import { voiceCallsContract } from './voice-calls.ts';
import { voiceHistoryContract } from './voice-history.ts';
import { webhookEventsContract } from './webhook-events.ts';
import { webhooksContract } from './webhooks.ts';

/**
 * All suites of the engines that store their data in PostgreSQL.
 *
 * @param nodes the connections of two nodes to one migrated database, from `beforeAll` on; the caller closes them.
 */
export function databaseContracts(name: string, nodes: () => readonly [Database, Database]): void {
  const both = <T>(create: (database: Database) => T): Make<T> => storesOf(nodes, create);

  voiceHistoryContract(name, (maxScanned) => both((database) => createPostgresVoiceHistory(database, maxScanned)));
  sessionTallyContract(name, nodes);
  voiceCallsContract(
    name,
    both((database) => ({ calls: createPostgresVoiceCalls(database), nodes: createPostgresLiveNodes(database) })),
  );
  activityContract(name, nodes);
  budgetsContract(name, nodes);
  journalContract(name, nodes);
  formerTablesContract(name, nodes);
  requestTimesContract(name, both(createPostgresRequestTimes));
  countersContract(name, both(createPostgresCounters));
  keySlotsContract(
    name,
    both((database) => ({ slots: createPostgresKeySlots(database), history: createPostgresVoiceHistory(database) })),
  );
  ledgerContract(name, both(createPostgresLedger));
  callUsageContract(name, both(createPostgresLedger));
  rollUpsContract(name, nodes);
  usageReportsContract(name, nodes);
  holdsContract(
    name,
    both((database) => ({
      holds: createPostgresHolds(database),
      ledger: createPostgresLedger(database),
      history: createPostgresVoiceHistory(database),
      calls: createPostgresVoiceCalls(database),
      retention: createPostgresRetention(database),
      database,
    })),
  );
  challengesContract(
    name,
    both((database) => ({
      challenges: createPostgresChallenges(database),
      logins: createPostgresLogins(database),
    })),
  );
  loginsContract(name, both(createPostgresLogins));
  loginAddressesContract(name, both(createPostgresLoginAddresses), both(createPostgresLogins));
  tenantsContract(name, both(createPostgresTenants));
  toolCallsContract(
    name,
    both((database) => ({ calls: createPostgresVoiceCalls(database), tools: createPostgresToolCalls(database) })),
  );
  savedViewsContract(name, both(createPostgresSavedViews));
  tenantSecretsContract(name, both(createPostgresTenantSecrets));
  clockAgreementsContract(name, both(createPostgresClockAgreements));
  installationContract(name, both(createPostgresInstallation));
  reconciliationsContract(
    name,
    both((database) => ({
      reconciliations: createPostgresReconciliations(database),
      ledger: createPostgresLedger(database),
      calls: createPostgresVoiceCalls(database),
    })),
  );
  idempotentRepliesContract(name, both(createPostgresIdempotentReplies));
  callTicketsContract(name, both(createPostgresCallTickets));
  resumeTokensContract(
    name,
    both((database) => ({
      resumeTokens: createPostgresResumeTokens(database),
      tickets: createPostgresCallTickets(database),
      history: createPostgresVoiceHistory(database),
    })),
  );
  sessionSetupsContract(
    name,
    both((database) => ({
      setups: createPostgresSessionSetups(database),
      history: createPostgresVoiceHistory(database),
      tickets: createPostgresCallTickets(database),
    })),
  );
  webhooksContract(name, (maxScanned) => both((database) => createPostgresWebhooks(database, maxScanned)));
  webhookEventsContract(
    name,
    both((database) => ({
      webhooks: createPostgresWebhooks(database),
      history: createPostgresVoiceHistory(database),
      calls: createPostgresVoiceCalls(database),
      ledger: createPostgresLedger(database),
      retention: createPostgresRetention(database),
      tenants: createPostgresTenants(database),
      challenges: createPostgresChallenges(database),
      budgetStates: createPostgresBudgetStates(database),
      reconciliations: createPostgresReconciliations(database),
    })),
  );
  retentionContract(name, nodes);
}
