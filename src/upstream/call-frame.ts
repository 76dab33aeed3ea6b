import { z } from 'zod';
import { parseJson } from '../kernel/post.ts';
import type { UpstreamEvent } from './contract.ts';
import { word } from './provider-http.ts';

const frame = z.looseObject({ type: z.string() });
/** An event of a provider: its type and its other fields. */
export type CallFrame = z.infer<typeof frame>;

/** @returns undefined for text that is not an event */
export function readFrame(text: string): CallFrame | undefined {
  return frame.safeParse(parseJson(text)).data;
}

const errorFrame = z.object({ error: z.object({ type: word, code: word, event_id: word }) });

/** The provider's error code, and which of our events caused the error. */
export function readError(event: CallFrame): { readonly code: string; readonly eventId: string | undefined } {
  const { data } = errorFrame.safeParse(event);
  return { code: data?.error.code ?? data?.error.type ?? 'error', eventId: data?.error.event_id };
}

/** An error that the provider reports on a connection: most leave the call open. */
export function asEvent(code: string): UpstreamEvent {
  return code === 'session_expired' ? { type: 'over', reason: 'expired' } : { type: 'trouble', code };
}
