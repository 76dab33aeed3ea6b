import { z } from 'zod';
import { createReply, createRequest, type CreateRequest } from './create.ts';
import { issuesInWords } from './issue-words.ts';
import { inUnit, text } from './values.ts';

const functionTool = z
  .looseObject({
    type: z.literal('function').meta({ description: 'No other kind is taken' }),
    name: z.string().meta({ description: 'What the model calls it', examples: ['show_map'] }),
  })
  .meta({
    description: 'A function that the page answers, as OpenAI describes it: name, description, parameters',
    examples: [{ type: 'function', name: 'show_map', parameters: { type: 'object' } }],
  });

/** A session as OpenAI's own clients describe it. Fields beyond these are handed on to the provider, where the key allows them. */
const vendorSession = z
  .looseObject({
    type: z.literal('realtime').optional().meta({ description: 'No other kind of session is opened' }),
    model: text(128)
      .optional()
      .meta({ description: 'In the place of the agent’s', examples: ['gpt-realtime-2.1'] }),
    instructions: z
      .string()
      .optional()
      .meta({ description: 'In the place of the agent’s', examples: ['Be brief.'] }),
    audio: z
      .looseObject({
        output: z
          .looseObject({
            voice: text(128)
              .optional()
              .meta({ description: 'In the place of the agent’s', examples: ['marin'] }),
            speed: z
              .number()
              .optional()
              .meta({ description: 'How fast the agent speaks, 0.5 to 1.5; 1 is as usual', ...inUnit('factor', 1.1) }),
          })
          .optional()
          .meta({ description: 'How the agent sounds', examples: [{ voice: 'marin' }] }),
      })
      .optional()
      .meta({ description: 'What is spoken and heard', examples: [{ output: { voice: 'marin' } }] }),
    tools: z.array(functionTool).optional().meta({ description: 'In the place of the agent’s' }),
  })
  .meta({
    description: 'What the session should be; what is left out is the agent’s',
    examples: [{ type: 'realtime', instructions: 'Be brief.' }],
  });

/** The body of POST /v1/realtime/client_secrets (docs/contract.md, section 5.17). */
export const clientSecretsRequest = z
  .object({
    expires_after: z
      .looseObject({})
      .optional()
      .meta({
        description: 'Taken and not heeded: `expires_at` of the reply says how long the secret lives',
        examples: [{ anchor: 'created_at', seconds: 600 }],
      }),
    session: vendorSession.optional(),
  })
  .optional();

export type ClientSecretsRequest = z.infer<typeof clientSecretsRequest>;

/** Its reply. */
export const clientSecretsReply = z.object({
  value: z
    .string()
    .meta({ description: 'Opens one call: the bearer token of an offer', examples: ['ek_sb_3kX2vQ9mB4'] }),
  expires_at: z.int().meta({ description: 'When it expires', ...inUnit('Unix seconds', 1_893_499_260) }),
  session: z
    .object({
      type: z.literal('realtime').meta({ description: 'Always `realtime`' }),
      object: z.literal('realtime.session').meta({ description: 'Always `realtime.session`' }),
      id: createReply.shape.id,
    })
    .meta({ description: 'The session as OpenAI’s clients read it' }),
  switchboard: createReply
    .omit({ id: true, client_secret: true })
    .extend({ keyId: z.string().meta({ description: 'The widget key whose limits hold', examples: ['site'] }) })
    .meta({ description: 'What a create replies beside' }),
});

export type ClientSecretsReply = z.infer<typeof clientSecretsReply>;

/**
 * What a create should ask for where OpenAI's clients ask for a session like this.
 * @returns the fields of a create, or what is wrong with which field of `session`
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
