import { z } from 'zod';
import { callRef, frameType, integer, string, text } from './fields.ts';

/** The largest message, in bytes, on a socket that receives the frames of its call. A tool's answer fits. */
export const MAX_CALL_MESSAGE_BYTES = 20 * 1024;
/** The largest answer of a tool, in bytes of JSON. */
const MAX_TOOL_OUTPUT_BYTES = 16 * 1024;
/** How much text a caption shows, in bytes, counted from its end. */
export const MAX_CAPTION_BYTES = 2048;

const who = z.enum(['visitor', 'agent']).describe('Who speaks or writes');
const callName = callRef.describe('The name of the call, as in `Location` of the reply that opened it');
const itemId = z.string().meta({ examples: ['item_C9CwUVUzUzYIssh3ELY1d'] });
const toolCallId = z.string().meta({ examples: ['call_C9CwUVUzUzYIss'] });

/** What a page can ask of its session's call (docs/contract.md, section 7.6). */
export const callRequestFrames = {
  say: z.object({
    type: frameType('say'),
    id: text(255, 'Identifies the text: it is said once in a call, however often it is sent', 'say-1'),
    text: string('What the visitor writes to the agent', 'When do you open tomorrow?')
      .max(2000)
      .refine((value) => value.trim() !== '', 'must not be empty')
      .meta({ minLength: 1 }),
  }),
  interrupt: z.object({ type: frameType('interrupt') }),
  talk: z.object({
    type: frameType('talk'),
    on: z
      .boolean()
      .describe('Whether the visitor presses the button that they hold to speak (true), or releases it (false)'),
  }),
  tool_result: z.object({
    type: frameType('tool_result'),
    id: toolCallId.min(1).max(256).describe('The tool call that this answers: the `id` of its `tool` frame'),
    output: z
      .unknown()
      .refine((value) => value !== undefined && isShortJson(value), 'must be JSON of at most 16 KiB')
      .meta({
        description: 'What the tool returns to the model: a string unchanged, anything else as JSON; at most 16 KiB',
        examples: [{ opens: '10:00' }],
      }),
  }),
};

/** The text that the model receives for a tool's answer. */
export function toolOutputText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

/** False also for values that are nested too deeply to be serialized. */
function isShortJson(value: unknown): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= MAX_TOOL_OUTPUT_BYTES;
  } catch {
    return false;
  }
}

/** What sockets that ask for it are told about a call. */
export const callFrames = {
  speech: z.object({
    type: frameType('speech'),
    who,
    on: z.boolean().describe('Whether they began to speak (true) or stopped (false)'),
  }),
  transcript: z.object({
    type: frameType('transcript'),
    id: itemId.describe('The item of the conversation; later frames with the same `id` have more of its text'),
    who,
    text: string('The whole text of the item so far, at most 2 KiB', 'We open at ten, and close at six.'),
    final: z.boolean().describe('Whether the item is complete'),
    cut: z.literal(true).optional().describe('Present if the beginning of the text is missing'),
    cutAtMs: integer(
      'milliseconds',
      1800,
      'Present if the visitor interrupted the agent: how much they had heard',
    ).optional(),
  }),
  thinking: z.object({
    type: frameType('thinking'),
    on: z.boolean().describe('Whether a server tool is running, so that the agent is silent for a while'),
    tool: string('The name of the tool that is running', 'lookup_order').optional(),
  }),
  tool: z.object({
    type: frameType('tool'),
    id: toolCallId.describe('Identifies this tool call: send it back in `tool_result`'),
    name: string('The name of the tool that the page is to run', 'show_map'),
    arguments: string(
      'The arguments as the model wrote them: meant to be JSON, but not checked',
      '{"place":"entrance"}',
    ),
  }),
};

/** What a call's clients are told as it happens. */
export const callEventFrame = z.object({
  type: frameType('call'),
  event: z
    .enum(['ready', 'speaking', 'listening', 'over'])
    .describe(
      '`ready`: the call is open; `speaking` and `listening`: what the agent is doing; `over`: the call is over',
    ),
  call: callName,
});

/** What happens on the provider's side of a call, for sockets that ask for it. */
export const callStateFrame = z.object({
  type: frameType('call'),
  state: z
    .enum(['connecting', 'open', 'closing', 'closed'])
    .describe('The state of the call; the same state may be sent twice'),
  reason: string('Why the call is closing or has closed', 'session_ended', 'remote').optional(),
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
