import { z } from 'zod';
import { modelPrice } from './price.ts';
import { inUnit } from './values.ts';

/** The reply of GET /v1/models (docs/contract.md, section 5.17). */
export const modelsReply = z.object({
  object: z.literal('list').meta({ description: 'Always `list`' }),
  data: z
    .array(
      z.object({
        id: z.string().meta({ description: 'The id of the model', examples: ['gpt-realtime-2.1'] }),
        object: z.literal('model').meta({ description: 'Always `model`' }),
        created: z.int().meta({
          description: 'Always 0: Switchboard does not know when a model was created',
          ...inUnit('Unix seconds', 0),
        }),
        owned_by: z.string().meta({ description: 'The model provider in use', examples: ['openai'] }),
        agents: z
          .array(z.string().meta({ examples: ['support'] }))
          .meta({ description: 'The tenant’s agents that use this model' }),
        price: modelPrice.optional().meta({
          description:
            'In micro-dollars: the price of a million tokens of each class, or of a minute; absent if no price list has the model',
        }),
      }),
    )
    .meta({ description: 'Sorted by name' }),
});

export type ModelsReply = z.infer<typeof modelsReply>;
