import { spanIdOf, type SpanName } from '../../kernel/trace-context.ts';
import type { TokenClasses } from '../../protocol/price.ts';
import type {
  TracedCall,
  TracedResponse,
  TracedSession,
  TracedTool,
  TracedWebhook,
} from '../../stores/session-traces/contract.ts';

/** A complete span, ready to be made. Times are milliseconds since the Unix epoch. */
export interface SpanTold extends SpanName {
  readonly name: string;
  /** Whether it is a request to another server. */
  readonly isRequest: boolean;
  /** The id of another span of the session; for the first span that of the back end's span, or null. */
  readonly parentId: string | null;
  /** Whether the parent is a span of another process. */
  readonly isParentRemote: boolean;
  readonly link: SpanName | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly told: AttributeValues;
  /** What went wrong, in one word; null where nothing did. */
  readonly error: string | null;
}

type NewSpan = Pick<SpanTold, 'name' | 'fromMs' | 'toMs'> &
  Partial<Pick<SpanTold, 'told' | 'error' | 'isRequest' | 'parentId'>>;

/** Names of spans whose ids servers are told before they are made: pass one and an id to `spanIdOf`. */
export const TOOL_SPAN = 'execute_tool';
export const WEBHOOK_SPAN = 'webhook';
export const PROVIDER_SPAN = 'provider create';
export const MINT_SPAN = 'mint';
const SESSION_SPAN = 'voice_session';

/**
 * The spans of an ended session, made from what was saved of it: the session as a whole first, each parent before its children. Their ids
 * are the same on whichever node they are made.
 */
export function spansOf(session: TracedSession): SpanTold[] {
  const { trace, ref, calls, responses, tools, webhooks } = session;
  const { traceId } = trace;
  const rootId = spanIdOf(traceId, SESSION_SPAN, ref);
  const children: SpanTold[] = [];

  /** @param id unique among all spans of the trace, which several sessions may share. @returns the span id */
  function add(id: readonly string[], made: NewSpan): string {
    const spanId = spanIdOf(traceId, ...id);
    const toMs = Math.max(made.fromMs, made.toMs);
    const usual = { isRequest: false, parentId: rootId, isParentRemote: false, link: null, told: {}, error: null };
    children.push({ ...usual, ...made, toMs, traceId, spanId });
    return spanId;
  }

  addCreate(session, add);
  for (const call of calls) {
    const parentId = addCall(call, add);
    for (const response of responses)
      if (response.callId === call.id) add(['response', call.id, response.key], responseSpan(response, call, parentId));
    for (const tool of tools) if (tool.callId === call.id) add([TOOL_SPAN, tool.id], toolSpan(tool, parentId));
    addHangUp(call, add);
  }
  for (const webhook of webhooks)
    add([WEBHOOK_SPAN, webhook.eventId, webhook.endpointId], { ...webhookSpan(webhook), isRequest: true });

  const root = {
    name: SESSION_SPAN,
    isRequest: false,
    traceId,
    spanId: rootId,
    parentId: trace.parentId,
    isParentRemote: trace.parentId !== null,
    link: trace.link,
    fromMs: Math.min(session.startedAtMs, ...children.map(({ fromMs }) => fromMs)),
    toMs: Math.max(session.endedAtMs, ...children.map(({ toMs }) => toMs)),
    told: toldOfSession(session),
    error: null,
  };
  return [root, ...children];
}

type Add = (id: readonly string[], made: NewSpan) => string;

function toldOfSession(session: TracedSession): AttributeValues {
  const { trace, ref, provider, model, agentId, tenantId, keyId, caller } = session;
  const { agentVersion, endReason, tokens, microDollars, responses } = session;
  const who = { session: ref, agent: agentId, tenant: tenantId, key: keyId, caller, agentVersion };
  const classes = responses.flatMap((response) => response.tokens ?? []);
  const used = { tokens, microDollars, ...(classes.length > 0 && usedBy(sumOf(classes))) };
  return { operation: 'realtime', provider, model, ...who, requestId: trace.requestId, endReason, ...used };
}

/** The create lasts until its session is saved, at the end of its last recorded step. */
function addCreate(
  { ref, trace: { startedAtMs, steps, requestId }, startedAtMs: openedAtMs }: TracedSession,
  add: Add,
): void {
  const lastMs = Math.max(0, ...steps.map(({ toMs }) => toMs));
  const toMs = Math.max(openedAtMs, startedAtMs + lastMs);
  const parentId = add(['create', ref], { name: 'create', fromMs: startedAtMs, toMs, told: { requestId } });
  for (const [n, step] of steps.entries()) {
    const times = { fromMs: startedAtMs + step.fromMs, toMs: startedAtMs + step.toMs };
    const isMint = step.name === MINT_SPAN;
    add(isMint ? [MINT_SPAN, ref] : ['create', ref, String(n)], {
      name: step.name,
      ...times,
      parentId,
      isRequest: isMint,
    });
  }
}

/** @returns the parent span for what happened in the call; for a call that never opened, the span of its exchange */
function addCall(call: TracedCall, add: Add): string {
  const { id, provider, model, createdAtMs, answeredAtMs, openedAtMs, closingAtMs, closedAtMs, closeReason } = call;
  const told = { call: id, provider, model };
  const endMs = closingAtMs ?? closedAtMs;
  const exchange = add(['exchange', id], {
    name: 'exchange',
    fromMs: createdAtMs,
    toMs: openedAtMs ?? endMs,
    told,
    error: openedAtMs === null ? (closeReason ?? 'lost') : null,
  });
  if (answeredAtMs !== null) {
    const asked = { fromMs: createdAtMs, toMs: answeredAtMs, parentId: exchange };
    add([PROVIDER_SPAN, id], { name: PROVIDER_SPAN, ...asked, isRequest: true });
    if (openedAtMs !== null)
      add(['attach', id], {
        name: 'attach',
        fromMs: answeredAtMs,
        toMs: openedAtMs,
        parentId: exchange,
        isRequest: true,
      });
  }
  if (openedAtMs === null) return exchange;
  const more = { closeReason, takeovers: call.takeovers };
  return add(['call', id], { name: 'call', fromMs: openedAtMs, toMs: endMs, told: { ...told, ...more } });
}

/** The hang-up lasts until the provider has confirmed it. */
function addHangUp({ id, closingAtMs, closedAtMs, hangup, hangupTries }: TracedCall, add: Add): void {
  if (closingAtMs === null || hangup === 'none') return;
  add(['hang_up', id], {
    name: 'hang_up',
    fromMs: closingAtMs,
    toMs: closedAtMs,
    told: { call: id, hangup, hangupTries },
    error: hangup === 'unconfirmed' ? hangup : null,
    isRequest: true,
  });
}

/** The start of a response is not saved, so its span is the instant at which its usage was reported. */
function responseSpan(response: TracedResponse, { id, provider, model }: TracedCall, parentId: string): NewSpan {
  const { atMs, microDollars, tokens } = response;
  const used = tokens === null ? {} : usedBy(tokens);
  const told = { operation: 'realtime', provider, model: response.model ?? model, call: id, microDollars, ...used };
  return { name: 'gen_ai response', fromMs: atMs, toMs: atMs, parentId, told, isRequest: true };
}

function toolSpan({ name, state, code, callId, askedAtMs, ms }: TracedTool, parentId: string): NewSpan {
  const told = { operation: 'execute_tool', tool: name, call: callId, state };
  const error = state === 'answered' ? null : (code ?? state);
  return {
    name: `execute_tool ${name}`,
    fromMs: askedAtMs,
    toMs: askedAtMs + (ms ?? 0),
    parentId,
    told,
    error,
    isRequest: true,
  };
}

function webhookSpan({
  eventId,
  endpointId,
  type,
  state,
  attempts,
  lastAtMs,
  ms,
  status,
  code,
}: TracedWebhook): NewSpan {
  const told = {
    event: eventId,
    eventType: type,
    endpoint: endpointId,
    state,
    status,
    resends: Math.max(0, attempts - 1),
  };
  const error = state === 'delivered' ? null : (code ?? String(status ?? state));
  return { name: 'webhook', fromMs: lastAtMs - ms, toMs: lastAtMs, told, error };
}

function usedBy(tokens: TokenClasses): AttributeValues {
  const { textIn, textCached, audioIn, audioCached, imageIn, imageCached, textOut, audioOut } = tokens;
  const inputTokens = textIn + textCached + audioIn + audioCached + imageIn + imageCached;
  return { inputTokens, outputTokens: textOut + audioOut, ...tokens };
}

function sumOf(all: readonly TokenClasses[]): TokenClasses {
  const [first, ...others] = all as readonly [TokenClasses, ...TokenClasses[]];
  const sum: Record<string, number> = { ...first };
  for (const one of others) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum as unknown as TokenClasses;
}

/**
 * Names of span attributes, in one place. Names of `gen_ai` follow OpenTelemetry's conventions for generative AI, which may change
 * (docs/operations.md, Traces). No attribute holds spoken words, addresses, header values, ids that prove a caller, or a provider's call id.
 */
export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  agent: 'gen_ai.agent.id',
  session: 'gen_ai.conversation.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tool: 'gen_ai.tool.name',
  error: 'error.type',
  status: 'http.response.status_code',
  resends: 'http.request.resend_count',
  requestId: 'switchboard.request_id',
  tenant: 'switchboard.tenant',
  key: 'switchboard.key',
  caller: 'switchboard.caller',
  agentVersion: 'switchboard.agent_version',
  endReason: 'switchboard.end_reason',
  tokens: 'switchboard.tokens',
  microDollars: 'switchboard.micro_dollars',
  textIn: 'switchboard.text_in',
  textCached: 'switchboard.text_cached',
  textOut: 'switchboard.text_out',
  audioIn: 'switchboard.audio_in',
  audioCached: 'switchboard.audio_cached',
  audioOut: 'switchboard.audio_out',
  imageIn: 'switchboard.image_in',
  imageCached: 'switchboard.image_cached',
  call: 'switchboard.call',
  closeReason: 'switchboard.close_reason',
  hangup: 'switchboard.hangup',
  hangupTries: 'switchboard.hangup_tries',
  takeovers: 'switchboard.takeovers',
  event: 'switchboard.event',
  eventType: 'switchboard.event_type',
  endpoint: 'switchboard.endpoint',
  state: 'switchboard.state',
} as const;

export type AttributeValues = Readonly<Partial<Record<keyof typeof ATTRIBUTES, string | number | null | undefined>>>;

/** The attributes of a span, without those that are null. */
export function attributesOf(told: AttributeValues): Record<string, string | number> {
  const all = Object.entries(told).flatMap(([field, value]) =>
    value == null ? [] : [[ATTRIBUTES[field as keyof typeof ATTRIBUTES], value] as const],
  );
  return Object.fromEntries(all);
}
