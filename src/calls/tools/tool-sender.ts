import type { ToolFailure } from '../../../machines/tool-call/types.ts';
import { cacheFor } from '../../kernel/collections.ts';
import type { Clock } from '../../kernel/time.ts';
import { isObject } from '../../kernel/post.ts';
import {
  OutboundFailure,
  PAUSED,
  type Outbound,
  type OutboundFailureKind,
  type OutboundReply,
} from '../../outbound/contract.ts';
import { secretNamesOf } from '../../protocol/server-tool.ts';
import type { ToolCalls } from '../../stores/voice-calls/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import { bodyOf, headersOf, type ToolRequest } from './tool-request.ts';

/** How long secrets are cached: a changed one is used within that time. */
const SECRETS_MS = 30_000;
const MAX_SECRETS = 10_000;
/** The longest reply that a model is told, in bytes. */
const MAX_REPLY_BYTES = 16 * 1024;
/** Server tool calls that a session may make in all, where its agent does not say. */
export const TOOL_CALLS_PER_SESSION = 50;

/** The secrets that requests to a tenant's tools are signed and authorised with. @throws Unavailable, and a fault if no secret can be read */
export interface ToolSecrets {
  /** `whsec_…`, the newest first; the first request makes one. */
  signing(tenantId: string): Promise<readonly string[]>;
  /** Undefined where there is no secret of that name. */
  read(tenantId: string, name: string): Promise<string | undefined>;
}

/** What a node calls tools of the server with. */
export interface ServerToolParts {
  readonly sender: Pick<ToolSender, 'send'>;
  readonly store: ToolCalls;
  /** How many tool calls a session of the agent may have, over all its tools. */
  readonly perSession: (tenantId: string, agentId: string | null) => number;
}

export interface ToolSenderDeps {
  readonly outbound: Outbound;
  readonly secrets: ToolSecrets;
  /** Opens what a back end handed on for the servers of a session's tools. @throws SealBroken; Error where nothing can open it */
  readonly openContext: (sealed: NonNullable<ToolRequest['sealed']>) => unknown;
  readonly clock: Clock;
  readonly events: Pick<Events, 'toolSecretMissing'>;
  readonly onError: (error: unknown) => void;
}

interface SendOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called once everything is ready, just before the request leaves. */
  readonly leaves: () => void;
}

/** Sends this node's requests to the servers of tools, signed, with the secrets that their headers name. */
export class ToolSender {
  readonly #deps: ToolSenderDeps;
  readonly #signing = cacheFor<readonly string[]>(SECRETS_MS, MAX_SECRETS);
  readonly #values = cacheFor<string | undefined>(SECRETS_MS, MAX_SECRETS);

  constructor(deps: ToolSenderDeps) {
    this.#deps = deps;
  }

  /** Never rejects: a failure is an outcome with a code. */
  async send(request: ToolRequest, { timeoutMs, signal, leaves }: SendOptions): Promise<ToolOutcome> {
    const { outbound, secrets, openContext, clock, onError } = this.#deps;
    const { tool, context, sealed } = request;
    const { tenantId, ref } = context.session;
    try {
      const values = await this.#valuesFor(tenantId, request);
      if (typeof values === 'string') return { code: 'failed', detail: `secret ${values} is not set` };
      const signing = await this.#signing(tenantId, clock.now(), () => secrets.signing(tenantId));
      const at = clock.now();
      const body = bodyOf(request, sealed === null ? {} : openContext(sealed), at);
      const headers = headersOf(request, body, signing, values, at);
      leaves();
      return outcomeOf(
        await outbound.request({
          method: 'POST',
          url: new URL(tool.url),
          owner: tenantId,
          session: ref,
          headers,
          body,
          timeoutMs,
          maxReplyBytes: MAX_REPLY_BYTES,
          signal,
        }),
      );
    } catch (fault) {
      if (fault instanceof OutboundFailure) return { code: FAILURES[fault.kind], detail: describeFailure(fault) };
      onError(fault);
      return { code: 'failed', detail: 'the request could not be made: the log of Switchboard says why' };
    }
  }

  /** The values of the secrets that the tool's headers name; or the name of a missing one, which is logged. */
  async #valuesFor(tenantId: string, { tool }: ToolRequest): Promise<ReadonlyMap<string, string> | string> {
    const { secrets, clock, events } = this.#deps;
    const values = new Map<string, string>();
    for (const name of secretNamesOf(tool)) {
      const value = await this.#values(`${tenantId}/${name}`, clock.now(), () => secrets.read(tenantId, name));
      if (value === undefined) {
        events.toolSecretMissing(tenantId, tool.name, name);
        return name;
      }
      values.set(name, value);
    }
    return values;
  }
}

function describeFailure({ kind, detail }: OutboundFailure): string | undefined {
  if (kind === 'forbidden') return 'no address that Switchboard may reach';
  if (detail === PAUSED) return 'not tried again yet, after failures in a row';
  return detail;
}

/** The outcome of a tool call: what the model is told, and its size in bytes, or why there is no answer. */
export type ToolOutcome =
  | { readonly output: unknown; readonly bytes: number; readonly endReason: string | null }
  /** `detail` is for operators; it quotes nothing from the server but a content type. */
  | { readonly code: ToolFailure; readonly detail?: string | undefined; readonly output?: undefined };

const decoder = new TextDecoder('utf-8', { fatal: true });

/** An identifier for operators, as programs write them. */
const END_REASON = /^[\w.-]{1,64}$/;
const DONE = { ok: true };

/**
 * What the model is told for a reply. A success gives its JSON or plain text as it is, without the field `switchboard`, which is for us; a success
 * without a body gives "done". Everything else is a failure: a proxy's error page is no answer, and a server's error messages are not meant for
 * visitors.
 */
export function outcomeOf({ status, contentType, body }: OutboundReply): ToolOutcome {
  if (status >= 300 && status <= 399) return failed(`redirect ${status}, which is not followed`);
  if (status < 200 || status > 299) return failed(`status ${status}`);
  if (body.byteLength === 0) return { output: DONE, bytes: 0, endReason: null };
  const text = decode(body);
  const [type = ''] = (contentType ?? '').split(';');
  if (text === undefined) return failed('no UTF-8');
  const bytes = body.byteLength;
  if (/^\s*text\/plain\s*$/i.test(type)) return { output: text, bytes, endReason: null };
  if (!/^\s*application\/(?:[\w.-]+\+)?json\s*$/i.test(type)) return failed(describeType(type));
  const told = readJson(text);
  return told === undefined ? failed('no JSON that can be read') : { ...told, bytes };
}

/** Undefined for text that is not JSON. */
function readJson(text: string): { readonly output: unknown; readonly endReason: string | null } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || !Object.hasOwn(value, 'switchboard')) return { output: text, endReason: null };
    const { switchboard, ...rest } = value;
    // Serialised here, so that JSON nested too deeply to be written again fails before anybody relies on it.
    return {
      output: JSON.stringify(Object.keys(rest).length === 0 ? DONE : rest),
      endReason: endReasonOf(switchboard),
    };
  } catch {
    return undefined;
  }
}

/** Unknown fields are ignored. */
function endReasonOf(switchboard: unknown): string | null {
  const end = isObject(switchboard) ? switchboard['end'] : undefined;
  const reason = isObject(end) ? end['reason'] : undefined;
  return typeof reason === 'string' && END_REASON.test(reason) ? reason : null;
}

function failed(detail: string): ToolOutcome {
  return { code: 'failed', detail };
}

/** The content type, if it is harmless: a server may write anything there. */
function describeType(contentType: string): string {
  const type = contentType.trim();
  return /^[\w.+/-]{1,80}$/.test(type) ? `content type ${type}` : 'no content type that is known';
}

/** What the model is told about a request that failed. Nobody waits for aborted ones. */
const FAILURES: Readonly<Record<OutboundFailureKind, ToolFailure>> = {
  forbidden: 'unreachable',
  unreachable: 'unreachable',
  timed_out: 'timed_out',
  too_large: 'too_large',
  too_many: 'too_many',
  aborted: 'interrupted',
};

function decode(body: Buffer): string | undefined {
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
}
