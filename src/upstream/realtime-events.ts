import { z } from 'zod';
import type { CallFrame } from './call-frame.ts';
import type { UpstreamEvent } from './contract.ts';
import { readDuration, readTokens } from './realtime-usage.ts';

const id = z
  .string()
  .regex(/^[\w-]{1,128}$/)
  .optional()
  .catch(undefined);

const activity: UpstreamEvent = { type: 'activity' };
const speaking: UpstreamEvent = { type: 'speaking' };
const listening: UpstreamEvent = { type: 'listening' };

/**
 * What an event of OpenAI's realtime API means, in our words; most mean nothing to us.
 * @param transcriber the model that transcribes what callers say, billed by its own rates
 */
export function eventsOf(frame: CallFrame, transcriber: string | undefined): readonly UpstreamEvent[] {
  switch (frame.type) {
    case 'response.done':
      return usageOf(frame);
    case 'conversation.item.input_audio_transcription.completed':
      return transcriptionOf(frame, transcriber);
    case 'response.created':
    case 'input_audio_buffer.speech_stopped':
      return [activity];
    case 'input_audio_buffer.speech_started':
      return [activity, listening];
    case 'output_audio_buffer.started':
      return [activity, speaking];
    case 'output_audio_buffer.stopped':
    case 'output_audio_buffer.cleared':
      return [listening];
    case 'rate_limits.updated':
      return rateLimitsOf(frame);
    default:
      return [];
  }
}

const responseDone = z.object({ response: z.object({ id, status: z.string().optional().catch(undefined) }).loose() });
/** Responses of which the provider may tell no usage. */
const mayBeFree = new Set(['cancelled', 'failed']);

function usageOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { response } = responseDone.safeParse(frame).data ?? {};
  const usage = response?.['usage'] ?? undefined;
  if (usage === undefined && mayBeFree.has(response?.status ?? '')) return [activity];
  const tokens = readTokens(usage);
  const key = response?.id;
  // Without an id nobody can tell whether it was counted before.
  if (tokens === undefined || key === undefined) return [activity, { type: 'usageUnreadable', key }];
  return [activity, { type: 'usage', key, model: undefined, tokens }];
}

const transcribed = z.object({ item_id: id, content_index: z.int().min(0).max(10_000).catch(0), usage: z.unknown() });

function transcriptionOf(frame: CallFrame, model: string | undefined): readonly UpstreamEvent[] {
  const { item_id, content_index, usage } = transcribed.safeParse(frame).data ?? {};
  if (item_id === undefined) return [{ type: 'usageUnreadable', key: undefined }];
  const key = `${item_id}:${content_index}`;
  const ms = readDuration(usage);
  if (ms !== undefined) return [{ type: 'usageTime', key, model, ms }];
  const tokens = readTokens(usage, 'textOut');
  return [tokens === undefined ? { type: 'usageUnreadable', key } : { type: 'usage', key, model, tokens }];
}

const rateLimits = z.object({
  rate_limits: z.array(z.object({ name: z.string().regex(/^[\w.-]{1,64}$/), remaining: z.number() })).max(32),
});

function rateLimitsOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { rate_limits = [] } = rateLimits.safeParse(frame).data ?? {};
  return rate_limits.map(({ name, remaining }) => ({ type: 'rateLimit', name, remaining }));
}

const sessionUpdated = z.object({
  session: z.object({
    audio: z.object({ input: z.object({ transcription: z.object({ model: z.string().min(1).max(128) }) }) }),
  }),
});

/** The model that transcribes, by an event that repeats the session; undefined where none does. */
export function transcriberOf(frame: CallFrame): string | undefined {
  return sessionUpdated.safeParse(frame).data?.session.audio.input.transcription.model;
}
