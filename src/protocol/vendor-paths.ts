import { z } from 'zod';
import { createReply, createRequest, type CreateRequest } from './create.ts';
import { issuesInWords } from './validation-messages.ts';
import { integer, number, string, text } from './fields.ts';
import { modelPrice } from './price.ts';

const functionTool = z
  .looseObject({
    type: z.literal('function').describe('The only kind that is accepted'),
    name: string('The name by which the model calls the function', 'show_map'),
  })
  .meta({
    description: 'A function that the page runs, in OpenAI’s format: name, description, parameters',
    examples: [{ type: 'function', name: 'show_map', parameters: { type: 'object' } }],
  });

/** A session as OpenAI's own clients describe it. Fields not listed here are passed on to the provider if the key allows them. */
const vendorSession = z
  .looseObject({
    type: z.literal('realtime').optional().describe('The only kind of session that is accepted'),
    model: text(128, 'Overrides the agent’s', 'gpt-realtime-2.1').optional(),
    instructions: string('Overrides the agent’s', 'Be brief.').optional(),
    audio: z
      .looseObject({
        output: z
          .looseObject({
            voice: text(128, 'Overrides the agent’s', 'marin').optional(),
            speed: number('factor', 1.1, 'How fast the agent speaks, 0.5 to 1.5; 1 is normal speed').optional(),
          })
          .optional()
          .meta({ description: 'The agent’s voice and speed', examples: [{ voice: 'marin' }] }),
      })
      .optional()
      .meta({ description: 'Settings of the audio', examples: [{ output: { voice: 'marin' } }] }),
    tools: z.array(functionTool).optional().describe('Overrides the agent’s'),
  })
  .meta({
    description: 'The settings of the session; the agent supplies what is left out',
    examples: [{ type: 'realtime', instructions: 'Be brief.' }],
  });

/** The body of POST /v1/realtime/client_secrets (docs/contract.md, section 5.17). */
export const clientSecretsRequest = z
  .object({
    expires_after: z
      .looseObject({})
      .optional()
      .meta({
        description: 'Accepted and ignored: `expires_at` in the reply says when the secret expires',
        examples: [{ anchor: 'created_at', seconds: 600 }],
      }),
    session: vendorSession.optional(),
  })
  .optional();

export type ClientSecretsRequest = z.infer<typeof clientSecretsRequest>;

/** The reply of POST /v1/realtime/client_secrets. */
export const clientSecretsReply = z.object({
  value: string('The secret that opens one call: the bearer token of an offer', 'ek_sb_3kX2vQ9mB4'),
  expires_at: integer('Unix seconds', 1_893_499_260, 'When it expires'),
  session: z
    .object({
      type: z.literal('realtime').describe('Always `realtime`'),
      object: z.literal('realtime.session').describe('Always `realtime.session`'),
      id: createReply.shape.id,
    })
    .describe('The session in the format of OpenAI’s clients'),
  switchboard: createReply
    .omit({ id: true, client_secret: true })
    .extend({ keyId: string('The widget key whose limits apply', 'site') })
    .describe('The other fields of Switchboard’s reply to a create'),
});

export type ClientSecretsReply = z.infer<typeof clientSecretsReply>;

/**
 * Translates a session that OpenAI's clients ask for into what a create should ask for.
 * @returns the fields of a create, or which fields of `session` are wrong and why
 */
export function wishOf(
  session: NonNullable<ClientSecretsRequest>['session'] = {},
):
  | { readonly wish: CreateRequest }
  | { readonly faults: readonly { readonly path: string; readonly message: string }[] } {
  const {
    type: _,
    model,
    instructions,
    tools,
    audio: { output: { voice, speed, ...output } = {}, ...audio } = {},
    ...rest
  } = session;
  const handedOn = {
    ...rest,
    ...((hasFields(audio) || hasFields(output)) && { audio: { ...audio, ...(hasFields(output) && { output }) } }),
  };
  const wish = {
    model,
    instructions,
    voice,
    speed,
    tools: tools?.map(({ type: kind, ...tool }) => ({ ...tool, kind })),
    ...(hasFields(handedOn) && { extra: handedOn }),
  };
  const checked = createRequest.safeParse(wish);
  if (checked.success) return { wish: checked.data };
  const placed: Readonly<Record<string, readonly string[]>> = {
    extra: [],
    voice: ['audio', 'output', 'voice'],
    speed: ['audio', 'output', 'speed'],
  };
  return {
    faults: issuesInWords(createRequest, wish).map(({ path, message }) => {
      const [field = '', ...further] = path.map(String);
      return { path: ['session', ...(placed[field] ?? [field]), ...further].join('.'), message };
    }),
  };
}

const hasFields = (value: object): boolean => Object.keys(value).length > 0;

/** The reply of GET /v1/models (docs/contract.md, section 5.17). */
export const modelsReply = z.object({
  object: z.literal('list').describe('Always `list`'),
  data: z
    .array(
      z.object({
        id: string('The id of the model', 'gpt-realtime-2.1'),
        object: z.literal('model').describe('Always `model`'),
        created: integer('Unix seconds', 0, 'Always 0: Switchboard does not know when a model was created'),
        owned_by: string('The model provider in use', 'openai'),
        agents: z.array(z.string().meta({ examples: ['support'] })).describe('The tenant’s agents that use this model'),
        price: modelPrice
          .optional()
          .describe(
            'In micro-dollars: the price of a million tokens of each class, or of a minute; absent if no price list has the model',
          ),
      }),
    )
    .describe('Sorted by name'),
});

export type ModelsReply = z.infer<typeof modelsReply>;

/** The longest text about a visitor, in characters: the token travels in a URL. */
const MAX_TEXT = 2048;
const MAX_ATTRIBUTES = 16;

const said = (description: string, example: string) =>
  z
    .string()
    .max(MAX_TEXT)
    .optional()
    .meta({ description, examples: [example] });

const agentDispatch = z
  .strictObject({
    agent_name: text(128, 'The `agentName` of the tenant’s agent to use', 'clerk').optional(),
    metadata: said('Metadata that the agent receives', '{"language":"de"}'),
  })
  .meta({ description: 'An agent to send to the room', examples: [{ agent_name: 'clerk' }] });

/** The body of POST /v1/livekit/token, as LiveKit's own clients send it (docs/contract.md, section 5.17). Unknown fields are refused. */
export const roomTokenRequest = z
  .strictObject({
    room_name: string('Always refused: each session has its own room', 'my-room').optional(),
    participant_identity: string('Always refused: the session determines the identity', 'user-17').optional(),
    participant_name: text(128, 'The visitor’s name in the room', 'Ada').optional(),
    participant_metadata: said('Metadata about the visitor that others in the room can read', '{"plan":"free"}'),
    participant_attributes: z
      .record(text(64), z.string().max(256))
      .refine((all) => Object.keys(all).length <= MAX_ATTRIBUTES, `must be at most ${MAX_ATTRIBUTES} attributes`)
      .optional()
      .meta({ description: 'Such metadata as names and values', examples: [{ language: 'de' }] }),
    room_config: z
      .strictObject({
        agents: z.array(agentDispatch).max(1, 'must be one agent').optional().describe('At most one agent'),
      })
      .optional()
      .meta({ description: 'The agent to use', examples: [{ agents: [{ agent_name: 'clerk' }] }] }),
  })
  .optional();

export type RoomTokenRequest = z.infer<typeof roomTokenRequest>;

/** The reply of POST /v1/livekit/token. */
export const roomTokenReply = z.object({
  server_url: string('The address that the page connects to', 'wss://example.livekit.cloud'),
  participant_token: string('The token with which the page joins the room', 'eyJhbGciOiJIUzI1NiJ9.eyJ2aWRlbyI6e319.x'),
});

export type RoomTokenReply = z.infer<typeof roomTokenReply>;
