import { z } from 'zod';

/** As OpenAI's published SDK types describe the events; unknown fields are refused, as OpenAI does. */
const jsonSchema = z.record(z.string(), z.unknown());
const output = z.strictObject({ voice: z.string(), speed: z.number().min(0.25).max(1.5).optional() });
const createResponse = { create_response: z.boolean().optional(), interrupt_response: z.boolean().optional() };
const input = z.strictObject({
  transcription: z
    .strictObject({
      model: z.string(),
      language: z
        .string()
        .regex(/^[a-z]{2,3}$/)
        .optional(),
      prompt: z.string().optional(),
    })
    .nullish(),
  turn_detection: z
    .discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('server_vad'),
        silence_duration_ms: z.int().optional(),
        prefix_padding_ms: z.int().optional(),
        threshold: z.number().optional(),
        idle_timeout_ms: z.int().nullish(),
        ...createResponse,
      }),
      z.strictObject({
        type: z.literal('semantic_vad'),
        eagerness: z.enum(['low', 'medium', 'high', 'auto']).optional(),
        ...createResponse,
      }),
    ])
    .nullish(),
  noise_reduction: z.strictObject({ type: z.enum(['near_field', 'far_field']) }).nullish(),
});
const reasoning = z.strictObject({ effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']) });
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
  audio: z.strictObject({ output, input: input.optional() }).optional(),
  reasoning: reasoning.optional(),
  tracing: z.union([z.literal('auto'), z.looseObject({})]).nullish(),
  tools: tools.optional(),
  max_output_tokens: maxOutputTokens.optional(),
  truncation: truncation.optional(),
});

export const mintBody = z.strictObject({
  expires_after: z.strictObject({ anchor: z.literal('created_at'), seconds: z.int().min(10).max(7200) }).optional(),
  session: session.optional(),
});

export const callSession = session;

/** Model and voice are missing because they cannot be changed. */
export const sessionUpdate = z.strictObject({
  type: z.literal('session.update'),
  event_id: z.string().optional(),
  session: session
    .omit({ model: true, audio: true })
    .extend({
      audio: z.strictObject({ output: output.omit({ voice: true }).optional(), input: input.optional() }).optional(),
      output_modalities: z.array(z.enum(['audio', 'text'])).optional(),
      tool_choice: z.enum(['auto', 'none', 'required']).optional(),
    })
    .strict(),
});

/** Everything that a page may change in its session through its data channel. */
const pageSession = z.strictObject({
  type: z.literal('realtime'),
  model: z.string().optional(),
  instructions: z.string().optional(),
  output_modalities: z.array(z.enum(['audio', 'text'])).optional(),
  tools: tools.optional(),
  tool_choice: z.enum(['auto', 'none', 'required']).optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning: z.strictObject({ effort: z.string() }).optional(),
  max_output_tokens: maxOutputTokens.optional(),
  truncation: truncation.optional(),
  prompt: z.strictObject({ id: z.string(), version: z.string().optional() }).nullish(),
  tracing: z.union([z.literal('auto'), z.looseObject({})]).nullish(),
  audio: z
    .strictObject({
      input: z
        .strictObject({
          format: z.looseObject({ type: z.string() }).optional(),
          noise_reduction: z.looseObject({ type: z.string() }).nullish(),
          transcription: z.looseObject({ model: z.string() }).nullish(),
          turn_detection: z.looseObject({ type: z.string() }).nullish(),
        })
        .optional(),
      output: z
        .strictObject({
          format: z.looseObject({ type: z.string() }).optional(),
          voice: z.string().optional(),
          speed: z.number().optional(),
        })
        .optional(),
    })
    .optional(),
});
const eventId = z.string().max(512).optional();

export const pageUpdate = z.strictObject({
  type: z.literal('session.update'),
  event_id: eventId,
  session: pageSession,
});

export const responseCreate = z.strictObject({
  type: z.literal('response.create'),
  event_id: eventId,
  response: z
    .strictObject({
      conversation: z.enum(['auto', 'none']).optional(),
      input: z.array(z.looseObject({})).optional(),
      instructions: z.string().optional(),
      max_output_tokens: maxOutputTokens.optional(),
      metadata: z.record(z.string(), z.string()).nullish(),
      output_modalities: z.array(z.enum(['audio', 'text'])).optional(),
      tools: tools.optional(),
      tool_choice: z.enum(['auto', 'none', 'required']).optional(),
    })
    .optional(),
});

export const responseCancel = z.strictObject({
  type: z.literal('response.cancel'),
  event_id: eventId,
  response_id: z.string().optional(),
});

/** Longer ids are refused. */
const itemId = z.string().regex(/^[\w-]{1,32}$/);

export const itemCreate = z.strictObject({
  type: z.literal('conversation.item.create'),
  event_id: eventId,
  previous_item_id: z.string().nullish(),
  item: z.discriminatedUnion('type', [
    z.strictObject({
      id: itemId.optional(),
      type: z.literal('message'),
      role: z.enum(['user', 'system', 'assistant']),
      content: z.array(z.strictObject({ type: z.enum(['input_text', 'output_text']), text: z.string() })),
    }),
    z.strictObject({
      id: itemId.optional(),
      type: z.literal('function_call_output'),
      call_id: z.string(),
      output: z.string(),
    }),
  ]),
});

export const itemDelete = z.strictObject({
  type: z.literal('conversation.item.delete'),
  event_id: eventId,
  item_id: z.string(),
});

export const audioClear = z.strictObject({ type: z.literal('output_audio_buffer.clear'), event_id: eventId });

export const inputClear = z.strictObject({ type: z.literal('input_audio_buffer.clear'), event_id: eventId });

export const inputCommit = z.strictObject({ type: z.literal('input_audio_buffer.commit'), event_id: eventId });

/** The defaults of a session; the provider repeats them in full. */
export const sessionDefaults = {
  instructions: 'Your knowledge cutoff is 2023-10. You are a helpful, witty, and friendly AI.',
  output_modalities: ['audio'],
  tools: [],
  tool_choice: 'auto',
  max_output_tokens: 'inf',
  truncation: 'auto',
  prompt: null,
  tracing: null,
};

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
