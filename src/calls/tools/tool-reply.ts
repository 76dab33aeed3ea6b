import type { ToolFailure } from '../../../machines/tool-call/types.ts';
import type { OutboundFailureKind, OutboundReply } from '../../outbound/contract.ts';

/** What became of a tool call: what the model is told, and its size in bytes, or why it is told no answer. */
export type ToolOutcome =
  | { readonly output: unknown; readonly bytes: number; readonly endReason: string | null }
  /** `detail` is for operators, and holds no words of the server but a content type. */
  | { readonly code: ToolFailure; readonly detail?: string | undefined; readonly output?: undefined };

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Words of a program, for operators. */
const END_REASON = /^[\w.-]{1,64}$/;
const DONE = { ok: true };

/**
 * What the model is told for a reply: of a success JSON or plain text as it is, but for the field `switchboard`, which is for us, and of one
 * without a body that it is done. Everything else has failed: pages of a proxy are no answer, and what a server says of its faults is not
 * for visitors.
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

/** Undefined for what is no JSON. */
function readJson(text: string): { readonly output: unknown; readonly endReason: string | null } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || !Object.hasOwn(value, 'switchboard')) return { output: text, endReason: null };
    const { switchboard, ...rest } = value;
    // Written here: what is nested too deeply to be written again has failed before anybody counts on it.
    return {
      output: JSON.stringify(Object.keys(rest).length === 0 ? DONE : rest),
      endReason: endReasonOf(switchboard),
    };
  } catch {
    return undefined;
  }
}

/** What is none of the fields that we know is ignored. */
function endReasonOf(switchboard: unknown): string | null {
  const end = isObject(switchboard) ? switchboard['end'] : undefined;
  const reason = isObject(end) ? end['reason'] : undefined;
  return typeof reason === 'string' && END_REASON.test(reason) ? reason : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failed(detail: string): ToolOutcome {
  return { code: 'failed', detail };
}

/** A server may write anything there. */
function describeType(contentType: string): string {
  const type = contentType.trim();
  return /^[\w.+/-]{1,80}$/.test(type) ? `content type ${type}` : 'no content type that is known';
}

/** As the model is told of a request that came to nothing. Nobody waits for aborted ones. */
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
