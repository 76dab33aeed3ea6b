import { z } from 'zod';

/** As OpenAI's published SDK types describe them; unknown fields are refused, as OpenAI does. */
const jsonSchema = z.record(z.string(), z.unknown());
const output = z.strictObject({ voice: z.string() });
const tools = z.array(
  z.strictObject({
    type: z.literal('function'),
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().optional(),
    parameters: jsonSchema.optional(),
  }),
);
const maxOutputTokens = z.union([z.literal('inf'), z.int().min(1).max(4096)]);
const truncation = z.union([
  z.enum(['auto', 'disabled']),
  z.strictObject({
    type: z.literal('retention_ratio'),
    retention_ratio: z.number().min(0).max(1),
    token_limits: z.strictObject({ post_instructions: z.int().optional() }).optional(),
  }),
]);

const session = z.strictObject({
  type: z.literal('realtime'),
  model: z.string(),
  instructions: z.string().optional(),
  audio: z.strictObject({ output }).optional(),
  tools: tools.optional(),
  max_output_tokens: maxOutputTokens.optional(),
  truncation: truncation.optional(),
});

export const mintBody = z.strictObject({
  expires_after: z.strictObject({ anchor: z.literal('created_at'), seconds: z.int().min(10).max(7200) }).optional(),
  session: session.optional(),
});

export const callSession = session;

/** Model and voice cannot be changed. */
export const sessionUpdate = z.strictObject({
  type: z.literal('session.update'),
  event_id: z.string().optional(),
  session: session
    .omit({ model: true, audio: true })
    .extend({
      output_modalities: z.array(z.enum(['audio', 'text'])).optional(),
      tool_choice: z.enum(['auto', 'none', 'required']).optional(),
    })
    .strict(),
});

export const liveBody = z.strictObject({
  session: z.strictObject({
    model: z.string(),
    instructions: z.string().optional(),
    audio: z.strictObject({ output }).optional(),
    client: z
      .strictObject({
        data_channel: z.strictObject({
          allowed_client_events: z.array(z.string()),
          allowed_server_events: z.array(z.strictObject({ type: z.string() })),
        }),
      })
      .optional(),
    store: z.boolean().optional(),
  }),
  transport: z.strictObject({ type: z.literal('webrtc'), sdp: z.string() }),
});

export const clientEvent = z.looseObject({ type: z.string(), event_id: z.string().optional() });
