import type { ToolFailure } from '../../../machines/tool-call/types.ts';
import { isObject } from '../../kernel/post.ts';
import type { OutboundFailureKind, OutboundReply } from '../../outbound/contract.ts';

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
export const FAILURES: Readonly<Record<OutboundFailureKind, ToolFailure>> = {
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
