import { iso, isoOrNull } from '../../kernel/time.ts';
import { type Layer, type Unit, unitOf } from '../../protocol/refusal-why.ts';
import type { OperatorRefusal } from '../../protocol/operator/refusal.ts';
import type { Entry, FlatDetail, NewEntry } from '../../stores/journal/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';
import type { Code } from '../../protocol/error-codes.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import type { OperatorEvent } from '../../protocol/operator/event.ts';
import { actorSeenBy, type Operator } from '../roles.ts';
import type { AuditRow } from '../../protocol/operator/audit.ts';

/** How operators who are shown some tenants, or all, see a refusal that was kept. */
export function viewOfRefusal(refusal: NewEntry<'refusal'>, tenants: TenantScope): OperatorRefusal {
  const kept = tenants === '*' ? refusal : withoutUsageElsewhere(refusal);
  const { requestId, atMs, code } = kept;
  const { tenantId = null, keyId = null, subject = null } = kept.of;
  const { status, layer, route, origin, addressHash, network } = kept.detail;
  const { limit = null, count = null, retryAfter = null, verdict = null } = kept.detail;
  return {
    requestId: requestId ?? '',
    at: iso(atMs),
    code,
    status,
    layer: layer as Layer,
    route,
    tenantId,
    keyId,
    subject,
    origin,
    addressHash,
    network,
    limit,
    count,
    retryAfter,
    verdict,
    ...explainRefusal(kept),
    node: tenants === '*' ? kept.node : null,
  };
}

/** A console user's day is added up over all tenants, and none of them is told how much that is. */
function withoutUsageElsewhere(refusal: NewEntry<'refusal'>): NewEntry<'refusal'> {
  if (refusal.detail.layer !== 'quota' || (refusal.of.keyId ?? null) !== null) return refusal;
  return { ...refusal, detail: { ...refusal.detail, count: undefined } };
}

type RefusalEntry = NewEntry<'refusal'>;

interface RefusalText {
  /** Who says so, where the refusal does not tell. */
  readonly layer: Layer;
  /** What decides, where the refusal does not tell. */
  readonly lever?: string;
  /** What happened, without what decides. */
  readonly say: (told: RefusalEntry) => string;
}

/** A refusal in one sentence, and what to turn. */
export interface Explained {
  readonly sentence: string;
  readonly lever: string | null;
}

const texts: Readonly<Record<Code, RefusalText>> = {
  INVALID_REQUEST: { layer: 'body', say: () => 'The request was malformed: a field, a parameter or a header is wrong' },
  AUTH_REQUIRED: {
    layer: 'login',
    say: () => 'The request proved nobody: no login, token or unused ticket came with it',
  },
  INVALID_OTP: {
    layer: 'login',
    lever: 'MAX_OTP_VERIFY_ATTEMPTS',
    say: ({ detail }) =>
      `The login code was ${detail.fact === undefined ? 'wrong, used or expired, or its attempts were spent' : `not looked at: ${detail.fact}`}`,
  },
  INVALID_WIDGET_KEY: {
    layer: 'key',
    say: ({ detail, of: { keyId } }) =>
      `The widget key${keyId == null ? '' : ` ${keyId}`} was refused: ${detail.fact ?? 'it is unknown, revoked or of another tenant'}`,
  },
  KEY_PAUSED: {
    layer: 'key',
    say: ({ of }) => `The widget key ${of.keyId ?? ''} was paused, and opens no new sessions`,
  },
  BOT_BLOCKED: {
    layer: 'bot',
    lever: 'BOT_PROVIDER',
    say: ({ detail }) => `The caller was judged a bot${detail.verdict === undefined ? '' : ` (${detail.verdict})`}`,
  },
  FORBIDDEN: { layer: 'login', lever: 'OPERATOR_EMAILS', say: forbidden },
  ORIGIN_MISMATCH: { layer: 'origin', lever: 'CONSOLE_ORIGINS', say: mismatch },
  SESSION_DURATION_EXCEEDED: {
    layer: 'machine',
    say: ({ detail }) => `The session had ended before${detail.reason === undefined ? '' : `: ${detail.reason}`}`,
  },
  NOT_FOUND: { layer: 'edge', say: () => 'There is nothing at this path' },
  SESSION_NOT_FOUND: {
    layer: 'proof',
    say: () => "The session is unknown, or the e-mail address that came along is not the session's",
  },
  METHOD_NOT_ALLOWED: { layer: 'edge', say: ({ detail }) => `${detail.route} does not take this method` },
  AMBIGUOUS: { layer: 'body', say: () => 'Several sessions share the ref that was named' },
  CONFLICT: {
    layer: 'body',
    say: ({ detail }) =>
      detail.fact === undefined ? 'What was to be made is there already' : `Nothing was changed: ${detail.fact}`,
  },
  COUNT_CHANGED: { layer: 'body', say: () => 'More matched than had been counted, and nothing was ended; count again' },
  QUERY_TOO_BROAD: {
    layer: 'body',
    say: () => 'The query asked for more than is read at once; ask for a shorter time',
  },
  PAYLOAD_TOO_LARGE: {
    layer: 'body',
    say: ({ detail }) => `The body was larger than ${amount(detail.limit, 'KiB') ?? 'it may be'}`,
  },
  UNSUPPORTED_MEDIA_TYPE: { layer: 'body', say: ({ detail }) => `${detail.route} takes another content type` },
  IDEMPOTENCY_MISMATCH: { layer: 'body', say: () => 'The Idempotency-Key was used before with another body' },
  USAGE_IMPLAUSIBLE: {
    layer: 'quota',
    lever: 'WIDGET_MAX_TOKENS_PER_MINUTE',
    say: () => 'The client reported more than a session of this length can have used; nothing was counted',
  },
  DAILY_QUOTA_EXCEEDED: { layer: 'quota', say: spent },
  CALL_IN_PROGRESS: { layer: 'slot', say: () => 'Another call of the session was being opened at that moment' },
  MAX_CONCURRENT_SESSIONS: {
    layer: 'slot',
    say: ({ detail }) =>
      `${amount(detail.limit, 'sessions') ?? 'Too many sessions'} ${detail.limit === 1 ? 'was' : 'were'} open already`,
  },
  RATE_LIMIT_EXCEEDED: { layer: 'edge', lever: 'RATE_IP_PER_MIN', say: tooMany },
  INTERNAL_ERROR: {
    layer: 'service',
    say: () => 'A fault of the service; its cause is in the log under the request id',
  },
  UPSTREAM_ERROR: {
    layer: 'mint',
    say: () => 'The voice provider refused or gave no usable answer; the log has its words under the request id',
  },
  SERVICE_UNAVAILABLE: {
    layer: 'service',
    say: ({ detail }) => `A part of the service was away${detail.fact === undefined ? '' : `: the ${detail.fact}`}`,
  },
  UPSTREAM_TIMEOUT: {
    layer: 'mint',
    lever: 'UPSTREAM_TIMEOUT_MS',
    say: () => 'The voice provider did not answer in time',
  },
};

/** Which part of the way said no. */
export function layerOf({ code, why }: Pick<Refusal, 'code' | 'why'>): Layer {
  return why.layer ?? texts[code].layer;
}

/** Why a request was refused: one sentence with the numbers that are known, and the variable or the field of a key that decides. */
export function explainRefusal(told: RefusalEntry): Explained {
  const text = Object.hasOwn(texts, told.code) ? texts[told.code as Code] : undefined;
  // What the provider limits no variable decides.
  const isProviders = told.code === 'RATE_LIMIT_EXCEEDED' && told.detail.layer === 'mint';
  const lever = told.detail.lever ?? (isProviders ? undefined : text?.lever) ?? null;
  const said = text?.say(told) ?? `The request was refused with ${told.code}`;
  const { retryAfter } = told.detail;
  const wait = retryAfter === undefined ? '' : `; the caller was told to wait ${retryAfter} s`;
  return { sentence: `${said}${lever === null ? '' : ` (${lever})`}${wait}.`, lever };
}

function forbidden({ detail }: RefusalEntry): string {
  const { layer, lever, expected, fact } = detail;
  if (layer === 'agent' && fact !== undefined) return `The widget key leaves all to its agent, and ${fact}`;
  if (layer === 'agent') return `The widget key allows ${expected === '' ? 'no agent' : `the agents ${expected}`} only`;
  return lever === 'admins' ? 'No tenant admits this console user' : 'The caller is logged in and may not do this';
}

function mismatch({ detail: { origin, expected } }: RefusalEntry): string {
  const came = origin ?? 'a request without a readable Origin';
  return expected === undefined
    ? `The request came from ${came}, which may not use a console login`
    : `The request came from ${came}, and the key is bound to ${expected}`;
}

function spent({ detail: { limit, count, unit, fact } }: RefusalEntry): string {
  if (fact !== undefined) return `Nothing is left of the day's ceiling: ${fact}`;
  const [used, ceiling] = [amount(count, unit), amount(limit, unit)];
  return used === undefined || ceiling === undefined
    ? "A ceiling of the day's tokens or dollars was reached"
    : `${used} of the day's ${ceiling} were used`;
}

function tooMany({ detail: { layer, limit, unit, lever } }: RefusalEntry): string {
  if (layer === 'mint') return 'The voice provider took no more requests at that moment';
  if (layer === 'slot') return `The session had had its ${amount(limit, unit) ?? 'calls'}`;
  const per = layer === 'login' ? 'hour' : 'minute';
  const isShared = layer === 'minute' && lever?.startsWith('totals.') === true;
  const whose = isShared ? ` of the whole ${lever.endsWith(' of the tenant') ? 'tenant' : 'key'}` : '';
  return `More than ${amount(limit, unit) ?? 'the allowed number'}${whose} in one ${per}`;
}

/** A number with its unit, as people write it. */
function amount(n: number | undefined, unit: Unit = 'requests'): string | undefined {
  if (n === undefined) return undefined;
  return unit === 'dollars' ? `$${n.toFixed(2)}` : `${n.toLocaleString('en-US')} ${unitOf(n, unit)}`;
}

/** How operators see what a machine did, or a note of a session. @param id what it is fetched by */
export function viewOfEvent(entry: NewEntry<'transition' | 'note'>, id: string): OperatorEvent {
  const { atMs, node, requestId } = entry;
  return { id, at: iso(atMs), ...(entry.kind === 'note' ? ofNote(entry) : ofTransition(entry)), node, requestId };
}

type Seen = Omit<OperatorEvent, 'id' | 'at' | 'node' | 'requestId'>;

function ofNote({ code, detail }: NewEntry<'note'>): Seen {
  return { kind: code, event: null, from: null, to: null, steps: [], guards: [], ...recordOf(null, detail) };
}

function ofTransition({ code, detail }: NewEntry<'transition'>): Seen {
  const { change, from, to, steps, guards, version, record } = detail;
  return {
    kind: change,
    event: code,
    from,
    to,
    steps: steps.map(({ actions, ...step }) => ({ ...step, actions: [...actions] })),
    guards: [...guards],
    ...recordOf(version, record),
  };
}

function recordOf(version: number | null, detail: FlatDetail): Pick<OperatorEvent, 'record' | 'detail'> {
  const { lastSeenAtMs, lastActivityAtMs, settledAtMs, ...rest } = detail;
  return {
    record: {
      version,
      lastSeenAt: instantOf(lastSeenAtMs),
      lastActivityAt: instantOf(lastActivityAtMs),
      settledAt: instantOf(settledAtMs),
    },
    detail: rest,
  };
}

/** Only voice sessions have these times. */
const instantOf = (atMs: unknown): string | null => isoOrNull(typeof atMs === 'number' ? atMs : null);

/** An act as an operator sees it. */
export function toAuditRow({ atMs, requestId, code, of, detail }: Entry<'act'>, operator: Operator): AuditRow {
  const { actor = '', target = '', tenantId = null, batchId = null } = of;
  const { role, reason, result, count } = detail;
  return {
    at: iso(atMs),
    actor: actorSeenBy(operator, actor),
    role,
    action: code,
    target,
    tenantId,
    reason,
    requestId,
    batchId,
    result,
    count,
  };
}
