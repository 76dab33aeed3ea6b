import { z } from 'zod';
import { modelPrice } from './price.ts';
import { inUnit } from './values.ts';

/** The reply of GET /v1/models (docs/contract.md, section 5.17). */
export const modelsReply = z.object({
  object: z.literal('list').meta({ description: 'Always `list`' }),
  data: z
    .array(
      z.object({
        id: z.string().meta({ description: 'The name of the model', examples: ['gpt-realtime-2.1'] }),
        object: z.literal('model').meta({ description: 'Always `model`' }),
        created: z
          .int()
          .meta({ description: 'Always 0: when a model was made is not known here', ...inUnit('Unix seconds', 0) }),
        owned_by: z.string().meta({ description: 'The provider that is in use', examples: ['openai'] }),
        agents: z
          .array(z.string().meta({ examples: ['support'] }))
          .meta({ description: 'The agents of the tenant that speak with it' }),
        price: modelPrice.optional().meta({
          description:
            'In micro-dollars: for a million tokens of each class, or for a minute; absent where no list has it',
        }),
      }),
    )
    .meta({ description: 'Sorted by name' }),
});

export type ModelsReply = z.infer<typeof modelsReply>;
