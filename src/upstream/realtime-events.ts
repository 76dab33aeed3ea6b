import { z } from 'zod';
import type { CallFrame } from './call-socket.ts';
import { MAX_CONTEXT_TOKENS, type UpstreamEvent } from './contract.ts';
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
 * What an event of OpenAI's realtime API means, in our words; docs/providers.md lists all events.
 * @param transcriber the model that transcribes callers, billed at its own rates
 * @param grantedTokens the output limit that we gave responses
 */
export function eventsOf(
  frame: CallFrame,
  transcriber: string | undefined,
  grantedTokens: number,
): readonly UpstreamEvent[] {
  switch (frame.type) {
    case 'response.created':
      return [activity, ...startOf(frame, grantedTokens)];
    case 'response.done':
      return endOf(frame);
    case 'response.output_audio_transcript.delta':
      return signOf(frame, AUDIO_TOKENS_A_CHARACTER);
    case 'response.output_text.delta':
    case 'response.function_call_arguments.delta':
      return signOf(frame, TEXT_TOKENS_A_CHARACTER);
    case 'response.output_item.added':
      return signOf(frame);
    case 'response.function_call_arguments.done':
      return [...signOf(frame), { type: 'toolCalled' }];
    case 'conversation.item.added':
    case 'conversation.item.created':
    case 'conversation.item.done':
      return itemOf(frame);
    case 'conversation.item.input_audio_transcription.completed':
      return transcriptionOf(frame, transcriber);
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

const bound = z
  .union([z.literal('inf'), z.number()])
  .nullish()
  .catch(undefined);
const responseCreated = z.object({
  response: z.object({
    id,
    conversation_id: z.string().nullish().catch(undefined),
    max_output_tokens: bound,
    output_modalities: z.array(z.string()).nullish().catch(undefined),
  }),
});

/** If the provider does not report a response's limit or conversation, the response has the session's. */
function startOf(frame: CallFrame, grantedTokens: number): readonly UpstreamEvent[] {
  const { response } = responseCreated.safeParse(frame).data ?? {};
  if (response?.id === undefined) return [];
  const { conversation_id, max_output_tokens: told, output_modalities } = response;
  return [
    {
      type: 'responseStarted',
      id: response.id,
      isInConversation: conversation_id !== null,
      maxOutputTokens: told === 'inf' ? Infinity : (told ?? grantedTokens),
      grantedTokens,
      modality: output_modalities?.every((each) => each === 'text') === true ? 'text' : 'audio',
    },
  ];
}

const responseDone = z.object({ response: z.object({ id, status: z.string().optional().catch(undefined) }).loose() });

/** A response that the provider cut off without reporting its usage has still cost something; one that failed has not. */
function endOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { response } = responseDone.safeParse(frame).data ?? {};
  const key = response?.id;
  const usage = response?.['usage'] ?? undefined;
  const done = (isTold: boolean): readonly UpstreamEvent[] =>
    key === undefined ? [] : [{ type: 'responseDone', id: key, isTold }];
  if (usage === undefined && response?.status === 'failed') return [activity, ...done(true)];
  if (usage === undefined && response?.status === 'cancelled' && key !== undefined) return [activity, ...done(false)];
  const tokens = readTokens(usage);
  // Without an id nobody can tell whether it was counted before.
  if (tokens === undefined || key === undefined) return [activity, { type: 'usageUnreadable', key }, ...done(true)];
  return [activity, { type: 'usage', key, model: undefined, tokens }, ...done(true)];
}

/** About 15 characters of speech are spoken in a second, which is 20 tokens of audio. */
const AUDIO_TOKENS_A_CHARACTER = 4 / 3;
const TEXT_TOKENS_A_CHARACTER = 1 / 4;
const sign = z.object({ response_id: id, delta: z.string().optional().catch(undefined) });

function signOf(frame: CallFrame, tokensACharacter = 0): readonly UpstreamEvent[] {
  const { response_id, delta = '' } = sign.safeParse(frame).data ?? {};
  if (response_id === undefined) return [];
  return [{ type: 'responseHeard', id: response_id, tokens: delta.length * tokensACharacter }];
}

const BYTES_A_TOKEN = 4;
const added = z.object({ item: z.looseObject({ id }) });

/** Each response reads the conversation's items again, up to the longest context. */
function itemOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { item } = added.safeParse(frame).data ?? {};
  if (item?.id === undefined) return [];
  const tokens = Math.ceil(Buffer.byteLength(JSON.stringify(item)) / BYTES_A_TOKEN);
  return [{ type: 'itemAdded', id: item.id, tokens: Math.min(tokens, MAX_CONTEXT_TOKENS) }];
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

/** The model that transcribes, from an event that repeats the session; undefined where none does. */
export function transcriberOf(frame: CallFrame): string | undefined {
  return sessionUpdated.safeParse(frame).data?.session.audio.input.transcription.model;
}
