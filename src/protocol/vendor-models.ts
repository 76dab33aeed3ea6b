import { z } from 'zod';
import { modelPrice } from './price.ts';
import { integer, string } from './field-types.ts';

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
