import { z } from 'zod';
import { rating, caller, endReasonOrNull, sessionState } from '../session.ts';
import {
  agentId,
  keyId,
  provider,
  sessionRef,
  subject,
  tenantAsked,
  tenantId,
  instant,
  instantAsked,
  seconds,
} from '../fields.ts';
import { sessionFilters } from './session.ts';
import { used } from './usage.ts';

const exportFormat = z.enum(['ndjson', 'csv']);

export type ExportFormat = z.infer<typeof exportFormat>;

const format = exportFormat
  .default('ndjson')
  .describe('`ndjson`: one JSON object per line; `csv`: as in RFC 4180, with the column names first');

/** Which sessions to export: the filters of the list, without those for sorting, paging and search. */
export const exportedSessionsAsked = sessionFilters
  .omit({ q: true, endingWithinSec: true, sort: true, cursor: true, limit: true })
  .extend({ format });

/** Which days of usage to export. */
export const exportedUsageAsked = z.object({
  from: instantAsked.optional().describe('Any time on the first day; by default today'),
  to: instantAsked.optional().describe('Any time on the last day; by default now'),
  tenantId: tenantAsked.optional(),
  format,
});

/** A session in an export. It does not include the id, which would let its reader act for the session. */
export const exportedSession = z.object({
  ref: sessionRef,
  tenantId,
  keyId: keyId.nullable(),
  agentId: agentId.nullable(),
  caller,
  subject,
  provider,
  state: sessionState,
  startedAt: instant,
  lastSeenAt: instant,
  endedAt: instant.nullable(),
  endReason: endReasonOrNull,
  durationSec: seconds,
  ...used.shape,
  rating: rating.nullable(),
});

export type ExportedSession = z.infer<typeof exportedSession>;

/** What one subject used on one day, by tenant, widget key and agent. */
export const exportedUsage = z.object({
  day: z.string().describe('A calendar day in QUOTA_TIMEZONE'),
  subject,
  tenantId: tenantId.nullable(),
  keyId: keyId.nullable(),
  agentId: agentId.nullable(),
  ...used.shape,
});

export type ExportedUsage = z.infer<typeof exportedUsage>;
