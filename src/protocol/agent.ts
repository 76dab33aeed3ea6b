import { z } from 'zod';
import { behaviour } from './behaviour.ts';
import { model, text } from './fields.ts';

const MAX_INSTRUCTION_BYTES = 32 * 1024;
const MAX_TOOLS = 128;

/** A tool as a tenant's file or a caller defines it and as the store keeps it. Fields not listed here pass through. */
export const tool = z
  .looseObject({
    kind: text(
      64,
      'Who runs the tool: Switchboard calls a `server_tool` of a tenant’s file; the page runs tools of every other kind',
      'http_tool',
    ),
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be a tool name: 1 to 64 letters, digits, hyphens and underscores')
      .meta({ description: 'The name by which the model calls the tool', examples: ['lookup_order'] }),
    description: z
      .string()
      .max(8192)
      .optional()
      .meta({
        description: 'What the tool does and when to use it, as the model is told',
        examples: ['Finds an order by its number.'],
      }),
  })
  .meta({
    description: 'Further fields are passed on, for example parameters (a JSON schema).',
    examples: [{ kind: 'http_tool', name: 'show_map', parameters: { type: 'object' } }],
  });

export type Tool = Readonly<z.infer<typeof tool>>;

/** What defines an agent: the same fields, with the same limits, for a tenant's agent and in a request (docs/contract.md, section 5.1). */
export const agentSettings = z.object({
  model: text(128)
    .optional()
    .meta({ ...model.meta(), description: 'The provider’s model; by default the agent’s' }),
  voice: text(128, 'The provider’s voice; by default the agent’s', 'marin').optional(),
  instructions: z
    .string()
    .refine((value) => Buffer.byteLength(value) <= MAX_INSTRUCTION_BYTES, 'must be at most 32 KiB (as UTF-8)')
    .optional()
    .meta({
      description: 'System instructions for the agent, at most 32 KiB; by default the agent’s own',
      examples: ['You are the friendly guide of a small science museum.'],
    }),
  tools: z
    .array(tool)
    .max(MAX_TOOLS, `must be at most ${MAX_TOOLS} tools`)
    .optional()
    .describe('The tools that the agent can call; by default the agent’s own'),
  ...behaviour.shape,
});

export type AgentSettings = Readonly<z.infer<typeof agentSettings>>;
