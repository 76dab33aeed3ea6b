import type { ToolFailure } from '../../../machines/tool-call/types.ts';
import type { OutboundFailureKind, OutboundReply } from '../../outbound/contract.ts';

/** What became of a tool call: what the model is told, and its size in bytes, or why it is told no answer. */
export type ToolOutcome =
  | { readonly output: unknown; readonly bytes: number }
  | { readonly code: ToolFailure; readonly output?: undefined };

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * What the model is told for a reply: of a success JSON or plain text as it is, and of one without a body that it is done. Everything else
 * has failed: pages of a proxy are no answer, and what a server says of its faults is not for visitors.
 */
export function outcomeOf({ status, contentType, body }: OutboundReply): ToolOutcome {
  if (status < 200 || status > 299) return failed;
  if (body.byteLength === 0) return { output: { ok: true }, bytes: 0 };
  const text = decode(body);
  const [type = ''] = (contentType ?? '').split(';');
  const isTold =
    /^\s*text\/plain\s*$/i.test(type) || (/^\s*application\/(?:[\w.-]+\+)?json\s*$/i.test(type) && isJson(text));
  return text !== undefined && isTold ? { output: text, bytes: body.byteLength } : failed;
}

const failed: ToolOutcome = { code: 'failed' };

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

function isJson(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? '');
    return true;
  } catch {
    return false;
  }
}
