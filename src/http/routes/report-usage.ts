import { z } from 'zod';
import { Refusal } from '../../kernel/errors.ts';
import { exceeds, toMicroDollars } from '../../quota/ceilings.ts';
import { reportUsage, type UsageParts, type UsageSubject } from '../../quota/report-usage.ts';
import { badKey, isKey } from '../idempotency.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { email, idempotencyHeader, ok, sample, sessionId, usageTotals } from '../schemas.ts';
import { sessionNotFound, speaksFor } from '../../voice/proof.ts';
import type { HeartbeatParts } from './heartbeat.ts';

export interface ReportUsageParts extends UsageParts, HeartbeatParts {}

const body = z.object({
  email: email.optional().meta({ description: 'Whose usage it is; needed unless the session was created without one' }),
  tokens: z.int().min(0).max(1e9),
  dollars: z
    .number()
    .min(0)
    .max(1e5)
    .transform((dollars, context) => {
      const micro = toMicroDollars(dollars);
      if (micro === undefined) context.addIssue({ code: 'custom', message: 'must have at most 6 decimals' });
      return micro ?? 0;
    })
    .meta({ description: 'At most 6 decimals, counted exactly' }),
  sm_session_id: sessionId
    .optional()
    .meta({ description: 'Proves the subject; the report is then activity of the session' }),
  tenantId: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'With a service token: the e-mail is a widget user of this tenant' }),
});

/** POST /api/auth/usage (specification section 4.6). */
export function reportUsageRoute(parts: ReportUsageParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/usage',
    operationId: 'reportUsage',
    summary: "Add to a user's daily totals",
    description:
      'Proof is one of: the console cookie of that e-mail, sm_session_id of one of its sessions, a service token. A report is always counted, also the one that is answered with 429.',
    tag: 'Usage',
    access: 'console',
    cors: 'widgets',
    body,
    headers: idempotencyHeader,
    bodyExample: { sm_session_id: sample.sm_session_id, tokens: 1200, dollars: 0.02 },
    replies: {
      200: {
        description: "The day's totals",
        schema: z.object({ ok, usage: usageTotals }),
        example: { ok: true, usage: sample.usage },
      },
    },
    refusals: [
      'INVALID_REQUEST',
      'AUTH_REQUIRED',
      'ORIGIN_MISMATCH',
      'SESSION_NOT_FOUND',
      'IDEMPOTENCY_MISMATCH',
      'DAILY_QUOTA_EXCEEDED',
      'RATE_LIMIT_EXCEEDED',
      'SERVICE_UNAVAILABLE',
    ],
    credentials: ['none', 'cookie', 'service'],
    usesCookie: ({ sm_session_id }) => sm_session_id === undefined,
    handle: (call) => report(call, parts),
  });
}

async function report(call: Call<z.infer<typeof body>>, parts: ReportUsageParts): Promise<Result> {
  const { request, login } = call;
  const idempotencyKey = request.headers['idempotency-key'];
  if (idempotencyKey !== undefined && !isKey(idempotencyKey)) return badKey();
  const who = await subjectOf(call, parts);
  if (who instanceof Refusal) return who;
  const { tokens, dollars: microDollars } = call.body;
  const result = await reportUsage(who, { tokens, microDollars, idempotencyKey, atMs: request.atMs }, parts);
  if (!(result instanceof Refusal)) return { status: 200, body: { ok: true, usage: result } };
  const isOwnLogin =
    login !== undefined && who.caller === 'console' && parts.subjects.console(login.email) === who.subject;
  if (result.code !== 'DAILY_QUOTA_EXCEEDED' || !isOwnLogin || !(await isOverToday(who, request.atMs, parts)))
    return result;
  await parts.destroyLogin(login.id, request.atMs);
  return { refusal: result, cookie: { kind: 'clear' } };
}

/** False when a report of an earlier day was repeated, which says nothing of today. */
async function isOverToday(who: UsageSubject, atMs: number, parts: ReportUsageParts): Promise<boolean> {
  const totals = await parts.ledger.totals(who.subject, parts.calendar(atMs).day);
  return exceeds(totals, parts.limitsOf(who.caller, who.tenantId ?? '', who.keyId));
}

/** Who the report is for, by the strongest proof that came with it. */
async function subjectOf(call: Call<z.infer<typeof body>>, parts: ReportUsageParts): Promise<UsageSubject | Refusal> {
  const { email, sm_session_id, tenantId } = call.body;
  if (sm_session_id !== undefined) {
    const record = await parts.sessions.find(sm_session_id);
    if (record === undefined || !speaksFor(record, email, parts.subjects)) return sessionNotFound();
    const { subject, caller, keyId } = record;
    return { subject, caller, tenantId: record.tenantId, keyId, sessionId: record.id };
  }
  if (call.isService && email !== undefined)
    return tenantId === undefined
      ? { subject: parts.subjects.console(email), caller: 'console', tenantId: null, keyId: null, sessionId: null }
      : {
          subject: parts.subjects.widgetUser(tenantId, email),
          caller: 'widget',
          tenantId,
          keyId: null,
          sessionId: null,
        };
  if (call.isService) return emailNeeded();
  if (call.login !== undefined && email === undefined) return emailNeeded();
  if (call.login === undefined || call.login.email !== email)
    return new Refusal(
      'AUTH_REQUIRED',
      'Prove the subject: the console cookie of this e-mail, sm_session_id, or a service token.',
    );
  return { subject: parts.subjects.console(email), caller: 'console', tenantId: null, keyId: null, sessionId: null };
}

function emailNeeded(): Refusal {
  const message = 'is needed without sm_session_id';
  return new Refusal('INVALID_REQUEST', `email: ${message}`, { details: [{ path: 'email', message }] });
}
