import { z } from 'zod';
import type { CallFrame } from './call-socket.ts';
import type { Speaker, ToolCall, UpstreamEvent } from './contract.ts';

const NOTHING: readonly UpstreamEvent[] = [];

/**
 * What an event of OpenAI's realtime API says about who speaks, what is said and the tools that the agent asks for, in our words. Costs and responses
 * are in `realtime-events`.
 */
export function conversationEvents(frame: CallFrame): readonly UpstreamEvent[] {
  switch (frame.type) {
    case 'input_audio_buffer.speech_started':
      return speech('visitor', true);
    case 'input_audio_buffer.speech_stopped':
      return speech('visitor', false);
    case 'output_audio_buffer.started':
      return playedOf(frame, true);
    case 'output_audio_buffer.stopped':
    case 'output_audio_buffer.cleared':
      return playedOf(frame, false);
    case 'conversation.item.input_audio_transcription.delta':
      return moreOf(frame, 'visitor');
    case 'conversation.item.input_audio_transcription.completed':
      return allOf(frame, 'visitor');
    case 'response.output_audio_transcript.delta':
    case 'response.output_text.delta':
      return moreOf(frame, 'agent');
    case 'response.output_audio_transcript.done':
    case 'response.output_text.done':
      return allOf(frame, 'agent');
    case 'conversation.item.truncated':
      return cutOf(frame);
    case 'conversation.item.added':
    case 'conversation.item.created':
      return [...toolAnswerOf(frame), ...writtenOf(frame)];
    case 'conversation.item.deleted':
      return removalOf(frame);
    case 'response.done':
      return toolsOf(frame);
    default:
      return NOTHING;
  }
}

function speech(who: Speaker, isOn: boolean): readonly UpstreamEvent[] {
  return [{ type: 'speech', who, isOn }];
}

const id = z.string().regex(/^[\w-]{1,128}$/);
const played = z.object({ response_id: id });

function playedOf(frame: CallFrame, isOn: boolean): readonly UpstreamEvent[] {
  const { data } = played.safeParse(frame);
  return [{ type: 'speech', who: 'agent', isOn, ...(data !== undefined && { responseId: data.response_id }) }];
}

const delta = z.object({ item_id: id, delta: z.string() });
/** Speech has a transcript, text has a text. */
const whole = z.object({ item_id: id, transcript: z.string().optional(), text: z.string().optional() });

function moreOf(frame: CallFrame, who: Speaker): readonly UpstreamEvent[] {
  const { data } = delta.safeParse(frame);
  return data === undefined
    ? NOTHING
    : [{ type: 'transcript', item: data.item_id, who, text: data.delta, isWhole: false }];
}

function allOf(frame: CallFrame, who: Speaker): readonly UpstreamEvent[] {
  const { data } = whole.safeParse(frame);
  const text = data?.transcript ?? data?.text;
  return data === undefined || text === undefined
    ? NOTHING
    : [{ type: 'transcript', item: data.item_id, who, text, isWhole: true }];
}

const truncated = z.object({ item_id: id, audio_end_ms: z.int().min(0) });

function cutOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { data } = truncated.safeParse(frame);
  return data === undefined ? NOTHING : [{ type: 'transcriptCut', item: data.item_id, atMs: data.audio_end_ms }];
}

/** Pages choose the names of these items. */
const named = z.string().max(1024);
const answered = z.object({
  item: z.object({
    id: named,
    type: z.literal('function_call_output'),
    call_id: z.string().max(256),
    output: z.string().catch(''),
  }),
});
/** How OpenAI's own SDK answers a tool call for a tool that its page does not have. */
const DENIAL = /^Tool [\w-]{1,64} not found$/;

function toolAnswerOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { item } = answered.safeParse(frame).data ?? {};
  if (item === undefined) return NOTHING;
  const { call_id: callId, output } = item;
  return [{ type: 'toolAnswered', item: item.id, callId, isDenial: DENIAL.test(output) }];
}

const written = z.object({
  item: z.object({
    id,
    type: z.literal('message'),
    role: z.literal('user'),
    content: z.array(z.object({ type: z.literal('input_text'), text: z.string() })).min(1),
  }),
});

/** What a visitor wrote: added by us, or by a page with a data channel. */
function writtenOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { item } = written.safeParse(frame).data ?? {};
  if (item === undefined) return NOTHING;
  const text = item.content.map((part) => part.text).join('\n');
  return [{ type: 'transcript', item: item.id, who: 'visitor', text, isWhole: true }];
}

const deleted = z.object({ item_id: named });

function removalOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { data } = deleted.safeParse(frame);
  return data === undefined ? NOTHING : [{ type: 'itemRemoved', item: data.item_id }];
}

const completed = z.object({
  response: z.object({ id, status: z.literal('completed'), output: z.array(z.unknown()) }),
});
const toolCall = z.object({
  type: z.literal('function_call'),
  call_id: z.string().min(1).max(256),
  name: z.string().max(256),
  arguments: z.string(),
});

/** A response that was cut off runs no tools. */
function toolsOf(frame: CallFrame): readonly UpstreamEvent[] {
  const { response } = completed.safeParse(frame).data ?? {};
  const calls = response?.output.flatMap((item): ToolCall[] => {
    const { data } = toolCall.safeParse(item);
    return data === undefined ? [] : [{ callId: data.call_id, name: data.name, arguments: data.arguments }];
  });
  if (response === undefined || calls === undefined || calls.length === 0) return NOTHING;
  return [{ type: 'toolsAsked', responseId: response.id, calls }];
}
