import type { z } from 'zod';
import { daysAsked, exportSessions, exportUsage, MAX_DAYS } from '../../exports/rows.ts';
import { begun, CONTENT_TYPES, exportText, type ExportName } from '../../exports/text.ts';
import type { Answer, Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { iso } from '../../kernel/time.ts';
import {
  exportedSessionsAsked,
  exportedUsageAsked,
  type ExportFormat,
  type exportedSession,
  type exportedUsage,
} from '../../protocol/operator/export.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { tenantsOf, within } from '../roles.ts';
import { operatorAnswerRoute } from '../operator-route.ts';
import { toHistoryFilter } from '../sessions/view.ts';

const PER_MINUTE = 60;

const HOW = [
  'Rows are sent as they are read, however many there are, as fast as the client takes them. If the database fails meanwhile, the export breaks off: the connection is closed before the last chunk.',
  'It is not a snapshot: each row is as it was when it was read.',
].join(' ');

const exampleSession: z.infer<typeof exportedSession> = {
  ref: 's:7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4:Qm4xT1aZ',
  tenantId: 'acme',
  keyId: 'site',
  agentId: 'support',
  caller: 'widget',
  subject: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  provider: 'openai',
  state: 'ended',
  startedAt: '2030-01-01T12:00:00.000Z',
  lastSeenAt: '2030-01-01T12:04:30.000Z',
  endedAt: '2030-01-01T12:04:31.000Z',
  endReason: 'closed_by_client',
  durationSec: 271,
  tokens: 1833,
  dollars: 0.064187,
  rating: 5,
};

const exampleUsage: z.infer<typeof exportedUsage> = {
  day: '2030-01-01',
  subject: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  tenantId: 'acme',
  keyId: 'site',
  agentId: 'support',
  tokens: 1833,
  dollars: 0.064187,
};

export function exportSessionsRoute({ core: { stores }, sessions }: Services): Route {
  return operatorAnswerRoute({
    method: 'GET',
    path: '/api/operator/export/sessions',
    operationId: 'exportSessions',
    summary: 'Export sessions with their usage, as NDJSON or CSV',
    description: `Oldest first, with the filters of the list. ${HOW}`,
    query: exportedSessionsAsked,
    perOperator: { name: 'export-sessions', perMinute: PER_MINUTE },
    replies: { 200: replyOf('sessions', exampleSession) },
    handle: (call, asked) => {
      const { atMs } = call.request;
      const filter = toHistoryFilter(asked, call.operator);
      const pages = exportSessions(filter, atMs, stores, (rows) => sessions.present(rows));
      return fileOf('sessions', asked.format, pages, atMs);
    },
  });
}

export function exportUsageRoute({ core: { stores }, usage: { calendar } }: Services): Route {
  return operatorAnswerRoute({
    method: 'GET',
    path: '/api/operator/export/usage',
    operationId: 'exportUsage',
    summary: 'Export usage by day, subject, key and agent, as NDJSON or CSV',
    description: `Whole days in QUOTA_TIMEZONE, from the day of \`from\` to the day of \`to\`, at most ${MAX_DAYS} of them. ${HOW}`,
    query: exportedUsageAsked,
    perOperator: { name: 'export-usage', perMinute: PER_MINUTE },
    replies: { 200: replyOf('usage', exampleUsage) },
    refusals: ['QUERY_TOO_BROAD'],
    handle: (call, { tenantId, format, ...range }) => {
      const { atMs } = call.request;
      const days = daysAsked(range, atMs, (at) => calendar(at).day);
      if (days instanceof Refusal) return days;
      return fileOf('usage', format, exportUsage(days, tenantsOf(within(call.operator, tenantId)), stores), atMs);
    },
  });
}

/** Begins the reply only once the first part is read, so that a failure until then gets the usual error reply. */
async function fileOf(
  name: ExportName,
  format: ExportFormat,
  pages: Parameters<typeof exportText>[2],
  atMs: number,
): Promise<Answer> {
  const parts = await begun(exportText(name, format, pages));
  const file = `switchboard-${name}-${iso(atMs).slice(0, 10)}.${format}`;
  return {
    status: 200,
    headers: [
      ['Content-Type', CONTENT_TYPES[format]],
      ['Content-Disposition', `attachment; filename="${file}"`],
    ],
    body: '',
    parts,
  };
}

function replyOf(name: ExportName, example: object): Route['replies'][number] {
  return {
    description: `The ${name}; with \`format=csv\` as text/csv, with the same fields in the same order`,
    contentType: 'application/x-ndjson',
    example: `${JSON.stringify(example)}\n`,
  };
}
