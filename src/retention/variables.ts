import { integer } from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/**
 * How long things are kept, in days; 0 means forever. Three of them are the journal's (src/stores/journal/contract.ts): `events` is for
 * transitions and notes, `refusals` for refusals, `audit` for acts of operators and facts about budgets.
 */
export const retentionDays = {
  sessions: variable(
    'SESSION_RETENTION_DAYS',
    integer(0, 36_500),
    '0',
    'days that sessions are kept after their end; 0: for ever',
  ),
  usage: variable(
    'USAGE_RETENTION_DAYS',
    integer(0, 36_500),
    '400',
    'days that usage entries and daily totals are kept; 0: for ever',
  ),
  events: variable(
    'EVENT_RETENTION_DAYS',
    integer(0, 36_500),
    '30',
    'days that events of machines and sessions are kept; 0: for ever',
  ),
  refusals: variable(
    'REFUSAL_RETENTION_DAYS',
    integer(0, 36_500),
    '7',
    'days that refusals are kept, at most two million of them; 0: for ever',
  ),
  audit: variable(
    'AUDIT_RETENTION_DAYS',
    integer(0, 36_500),
    '0',
    "days that the audit of operators' changes is kept; 0: for ever",
  ),
  webhooks: variable(
    'WEBHOOK_RETENTION_DAYS',
    integer(1, 36_500),
    '30',
    'days that events for webhooks are kept, whether delivered or still waiting',
  ),
};
