import { z } from 'zod';

/** Bytes of a message of a socket that wants the frames of its call: an answer of a tool has room in it. */
export const MAX_CALL_MESSAGE_BYTES = 20 * 1024;
/** Bytes of the answer of a tool, as JSON. */
const MAX_TOOL_OUTPUT_BYTES = 16 * 1024;
/** Bytes of the words that a caption shows: the last ones. */
export const MAX_CAPTION_BYTES = 2048;

const who = z.enum(['visitor', 'agent']);
const callName = z.string().meta({ description: 'The name of the call, as `Location` of its exchange has it' });

/** What a page asks of its session's call (docs/contract.md, section 7.6). */
export const callRequestFrames = {
  say: z.object({
    type: z.literal('say'),
    id: z.string().min(1).max(255).meta({ description: 'Said once in a call, however often it is sent' }),
    text: z
      .string()
      .max(2000)
      .refine((value) => value.trim() !== '', 'must not be empty')
      .meta({ minLength: 1 }),
  }),
  interrupt: z.object({ type: z.literal('interrupt') }),
  talk: z.object({
    type: z.literal('talk'),
    on: z.boolean().meta({ description: 'The visitor presses the button that they hold to speak, or lets go of it' }),
  }),
  tool_result: z.object({
    type: z.literal('tool_result'),
    id: z.string().min(1).max(256).meta({ description: 'As the `tool` frame has it' }),
    output: z
      .unknown()
      .refine((value) => value !== undefined && isShortJson(value), 'must be JSON of at most 16 KiB')
      .meta({ description: 'What the model is told: a text as it is, everything else as JSON; at most 16 KiB' }),
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
  speech: z.object({ type: z.literal('speech'), who, on: z.boolean() }),
  transcript: z.object({
    type: z.literal('transcript'),
    id: z.string(),
    who,
    text: z.string().meta({ description: 'All of the item until now, at most 2 KiB' }),
    final: z.boolean(),
    cut: z.literal(true).optional().meta({ description: 'The beginning is left out' }),
    cutAtMs: z.int().optional().meta({ description: 'The visitor interrupted the agent: so much of it was heard' }),
  }),
  thinking: z.object({
    type: z.literal('thinking'),
    on: z
      .boolean()
      .meta({ description: 'Whether a tool of the server runs, so that the agent says nothing for a while' }),
    tool: z.string().optional().meta({ description: 'Its name' }),
  }),
  tool: z.object({
    type: z.literal('tool'),
    id: z.string(),
    name: z.string(),
    arguments: z.string().meta({ description: 'JSON as the model wrote it, which may be none' }),
  }),
};

/** What a call's clients hear of it as it happens. */
export const callEventFrame = z.object({
  type: z.literal('call'),
  event: z.enum(['ready', 'speaking', 'listening', 'over']),
  call: callName,
});

/** What the provider's side of a call does, told to sockets that want it. */
export const callStateFrame = z.object({
  type: z.literal('call'),
  state: z.enum(['connecting', 'open', 'closing', 'closed']),
  reason: z.string().optional().meta({ description: 'Why it closes' }),
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
