import { idempotencyHeader, refuseKey } from '../../protocol/idempotency-header.ts';
import { toMicroDollars } from '../../protocol/money.ts';
import { Refusal, sessionNotFound, wrongField } from '../../protocol/refusal.ts';
import { usageReply, usageRequest, type UsageRequest } from '../../protocol/usage.ts';
import { quotaRefusal } from '../../quota/quota-refusal.ts';
import type { UsageSubject } from '../../quota/who-may-report.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import { speaksFor } from '../../sessions/sessions.ts';
import type { Services } from '../services.ts';
import { refusedOf } from '../refusals.ts';

type ReportServices = Pick<Services, 'core' | 'identity' | 'usage' | 'sessions'>;

const description = [
  'The report needs one of these as proof: `sm_session_id` of one of the user’s sessions, during the session and for five minutes after its end, unless its key is revoked; the console cookie of that e-mail; a service token.',
  'With a service token, usage counts as follows: with `sm_session_id`, for that session’s user, at any time and without the e-mail; with `email` and `tenantId`, for the widget user of that address in that tenant, the same user that a widget identifies with `email`; with `email` alone, for the console user of that address. The last two are different users: `tenantId` decides. For visitors that a widget does not identify, only `sm_session_id` works.',
  'A report is always counted, even if the reply is 429: it then has `counted: true` and the totals in `usage`, so do not send the report again. Every live session of the user ends if its own key’s ceiling is exceeded. The reply is judged by the key of the named session; for a widget user identified by e-mail, by the highest ceilings among the tenant’s keys in use, so that 429 means that no key lets this user continue today.',
  'An installation may limit what a widget’s client reports in proportion to its connected time (WIDGET_MAX_TOKENS_PER_MINUTE): a report above that is refused with USAGE_IMPLAUSIBLE and not counted. An `Idempotency-Key` is valid for 24 hours, for the named session or otherwise for the user.',
  'If Switchboard meters the session’s calls (CALL_MODE=brokered), a client’s report gets the current totals and `counted: false`; only a `response` that Switchboard did not hear, of a call with a gap, is counted, at the server’s prices. With a simulated provider, reports count while no call of the session is open. Service tokens may still report.',
].join('\n\n');

/** POST /api/auth/usage (docs/contract.md, section 5.8). */
export function reportUsageRoute(services: ReportServices): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/usage',
    operationId: 'reportUsage',
    summary: "Add to a user's daily totals",
    description,
    tag: 'Usage',
    access: 'console',
    cors: 'widgets',
    body: usageRequest,
    headers: idempotencyHeader,
    bodyExample: { sm_session_id: sample.sm_session_id, tokens: 1200, dollars: 0.02 },
    replies: {
      200: {
        description: "The day's totals",
        schema: usageReply,
        example: { ok: true, usage: sample.usage },
      },
    },
    refusals: [
      'AUTH_REQUIRED',
      'INVALID_WIDGET_KEY',
      'ORIGIN_MISMATCH',
      'SESSION_DURATION_EXCEEDED',
      'SESSION_NOT_FOUND',
      'IDEMPOTENCY_MISMATCH',
      'USAGE_IMPLAUSIBLE',
      'DAILY_QUOTA_EXCEEDED',
      'RATE_LIMIT_EXCEEDED',
      'SERVICE_UNAVAILABLE',
    ],
    refusalExamples: {
      DAILY_QUOTA_EXCEEDED: quotaRefusal({ counted: true, usage: { ...sample.usage, tokens: 300_001 } }),
    },
    credentials: ['none', 'cookie', 'service'],
    proves: ({ sm_session_id }) => sm_session_id !== undefined,
    handle: (call) => answer(call, services),
  });
}

async function answer(call: Call<UsageRequest>, services: ReportServices): Promise<Result> {
  const { identity, usage, sessions } = services;
  const { request, isService } = call;
  const { email } = call.body;
  const idempotencyKey = request.headers['idempotency-key'];
  const badKey = idempotencyKey === undefined ? undefined : refuseKey(idempotencyKey);
  if (badKey !== undefined) return badKey;
  const sm_session_id = await sessionOf(call, services);
  if (sm_session_id === undefined) return count(subjectOf(call, identity.subjects), call, services);
  const record = await sessions.find(sm_session_id);
  if (record === undefined || !speaksFor(record, email, identity.subjects, isService)) return sessionNotFound();
  const who = await usage.subjectOfSession(record, isService, request.atMs);
  return who instanceof Refusal && who.code === 'SESSION_DURATION_EXCEEDED'
    ? refusedOf(record, who, call, identity)
    : count(who, call, services);
}

/** The session that a report names. A back end may also name it by one of its calls; an unknown call leads to a session that is not found. */
async function sessionOf(
  { body, isService }: Call<UsageRequest>,
  { core }: ReportServices,
): Promise<string | undefined> {
  const { sm_session_id, call } = body;
  if (sm_session_id !== undefined || call === undefined || !isService) return sm_session_id;
  return (await core.stores.calls.load(call))?.sessionId ?? '';
}

async function count(
  who: UsageSubject | Refusal,
  call: Call<UsageRequest>,
  { identity, usage }: ReportServices,
): Promise<Result> {
  if (who instanceof Refusal) return who;
  const { request, login } = call;
  const { tokens, dollars, response } = call.body;
  const { atMs, requestId } = request;
  const idempotencyKey = request.headers['idempotency-key'];
  const report = { tokens, microDollars: toMicroDollars(dollars), idempotencyKey, response, atMs, requestId };
  const result = await usage.report(who, report);
  if (!(result instanceof Refusal)) return { status: 200, body: { ok: true, ...result } };
  const isOwnLogin =
    login !== undefined && who.caller === 'console' && identity.subjects.console(login.email) === who.subject;
  if (result.code !== 'DAILY_QUOTA_EXCEEDED' || !isOwnLogin) return result;
  // A repeated report of an earlier day says nothing of today.
  if (!(await usage.exceedsToday(who, atMs))) return result;
  await identity.logins.destroy(login.id, 'violation', atMs, requestId);
  return { refusal: result, cookie: { kind: 'clear' } };
}

/** The subject of a report that names no session. */
function subjectOf(call: Call<UsageRequest>, subjects: Services['identity']['subjects']): UsageSubject | Refusal {
  const { isService, login } = call;
  const { email, tenantId } = call.body;
  if (email === undefined && (isService || login !== undefined))
    return wrongField('email', 'is needed without sm_session_id');
  if (email === undefined || (!isService && login?.email !== email))
    return new Refusal(
      'AUTH_REQUIRED',
      'Prove the subject: the console cookie of this e-mail, sm_session_id, or a service token.',
    );
  const nobodys = { keyId: null, sessionId: null, sessionAtMost: null, isClient: false };
  return isService && tenantId !== undefined
    ? { subject: subjects.widgetUser(tenantId, email), caller: 'widget', tenantId, ...nobodys }
    : { subject: subjects.console(email), caller: 'console', tenantId: null, ...nobodys };
}
