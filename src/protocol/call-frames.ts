import { z } from 'zod';
import { callRef, frameType } from './fields.ts';
import { inUnit } from './values.ts';

/** Bytes of a message of a socket that wants the frames of its call: an answer of a tool has room in it. */
export const MAX_CALL_MESSAGE_BYTES = 20 * 1024;
/** Bytes of the answer of a tool, as JSON. */
const MAX_TOOL_OUTPUT_BYTES = 16 * 1024;
/** Bytes of the words that a caption shows: the last ones. */
export const MAX_CAPTION_BYTES = 2048;

const who = z.enum(['visitor', 'agent']).meta({ description: 'Who speaks or writes' });
const callName = callRef.meta({ description: 'The name of the call, as `Location` of its exchange has it' });
const itemId = z.string().meta({ examples: ['item_C9CwUVUzUzYIssh3ELY1d'] });
const toolCallId = z.string().meta({ examples: ['call_C9CwUVUzUzYIss'] });

/** What a page asks of its session's call (docs/contract.md, section 7.6). */
export const callRequestFrames = {
  say: z.object({
    type: frameType('say'),
    id: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: 'Said once in a call, however often it is sent', examples: ['say-1'] }),
    text: z
      .string()
      .max(2000)
      .refine((value) => value.trim() !== '', 'must not be empty')
      .meta({
        description: 'What the visitor writes to the agent',
        examples: ['When do you open tomorrow?'],
        minLength: 1,
      }),
  }),
  interrupt: z.object({ type: frameType('interrupt') }),
  talk: z.object({
    type: frameType('talk'),
    on: z.boolean().meta({ description: 'The visitor presses the button that they hold to speak, or lets go of it' }),
  }),
  tool_result: z.object({
    type: frameType('tool_result'),
    id: z
      .string()
      .min(1)
      .max(256)
      .meta({ ...toolCallId.meta(), description: 'Which tool call it answers: the `id` of its `tool` frame' }),
    output: z
      .unknown()
      .refine((value) => value !== undefined && isShortJson(value), 'must be JSON of at most 16 KiB')
      .meta({
        description: 'What the model is told: a text as it is, everything else as JSON; at most 16 KiB',
        examples: [{ opens: '10:00' }],
      }),
  }),
};

/** The text that a model is told for what a tool answers. */
export function toolOutputText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

/** Values that are nested too deeply to be written are none. */
function isShortJson(value: unknown): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= MAX_TOOL_OUTPUT_BYTES;
  } catch {
    return false;
  }
}

/** What sockets are told of a call that want to hear of it. */
export const callFrames = {
  speech: z.object({
    type: frameType('speech'),
    who,
    on: z.boolean().meta({ description: 'Whether they begin to speak, or stop' }),
  }),
  transcript: z.object({
    type: frameType('transcript'),
    id: itemId.meta({ description: 'What is said in one go; later frames with the same `id` have more of it' }),
    who,
    text: z.string().meta({
      description: 'All of the item until now, at most 2 KiB',
      examples: ['We open at ten, and close at six.'],
    }),
    final: z.boolean().meta({ description: 'Whether no more of the item comes' }),
    cut: z.literal(true).optional().meta({ description: 'The beginning is left out' }),
    cutAtMs: z
      .int()
      .optional()
      .meta({
        description: 'The visitor interrupted the agent, and heard so much of it',
        ...inUnit('milliseconds', 1800),
      }),
  }),
  thinking: z.object({
    type: frameType('thinking'),
    on: z
      .boolean()
      .meta({ description: 'Whether a tool of the server runs, so that the agent says nothing for a while' }),
    tool: z
      .string()
      .optional()
      .meta({ description: 'The name of the tool that runs', examples: ['lookup_order'] }),
  }),
  tool: z.object({
    type: frameType('tool'),
    id: toolCallId.meta({ description: 'Names this call of the tool: send it back in `tool_result`' }),
    name: z.string().meta({ description: 'Which of its tools the page is to run', examples: ['show_map'] }),
    arguments: z.string().meta({
      description: 'As the model wrote them: JSON, but nobody has checked that',
      examples: ['{"place":"entrance"}'],
    }),
  }),
};

/** What a call's clients hear of it as it happens. */
export const callEventFrame = z.object({
  type: frameType('call'),
  event: z.enum(['ready', 'speaking', 'listening', 'over']).meta({
    description: '`ready`: the call is open; `speaking` and `listening`: what the agent does; `over`: the call is over',
  }),
  call: callName,
});

/** What the provider's side of a call does, told to sockets that want it. */
export const callStateFrame = z.object({
  type: frameType('call'),
  state: z
    .enum(['connecting', 'open', 'closing', 'closed'])
    .meta({ description: 'How far the call is; a state may be told twice' }),
  reason: z
    .string()
    .optional()
    .meta({ description: 'Why it closes', examples: ['session_ended', 'remote'] }),
  call: callName,
});

export const callFrame = z.discriminatedUnion('type', [
  callFrames.speech,
  callFrames.transcript,
  callFrames.tool,
  callFrames.thinking,
  callStateFrame,
]);

export type CallFrame = Readonly<z.infer<typeof callFrame>>;

export const callRequest = z.discriminatedUnion('type', [
  callRequestFrames.say,
  callRequestFrames.interrupt,
  callRequestFrames.talk,
  callRequestFrames.tool_result,
]);

export type CallRequest = Readonly<z.infer<typeof callRequest>>;
