import { z } from 'zod';
import { string } from './fields.ts';

/** Who opens a session's calls at the provider: the page, or Switchboard on its behalf (docs/contract.md, section 5.10). */
export const callMode = z
  .enum(['direct', 'brokered'])
  .describe('Who opens the calls: the page itself (`direct`), or Switchboard for it (`brokered`)');

export type CallMode = z.infer<typeof callMode>;

/** Whether the page of a brokered call may exchange events with the provider. */
export const dataChannel = z
  .enum(['open', 'none'])
  .describe('Whether pages in brokered calls get a data channel to the provider');

export type DataChannel = z.infer<typeof dataChannel>;

/** How the page of a session opens its call, in the reply to a create. */
export const callTerms = z.object({
  mode: string(
    '`direct`: the client secret comes from the provider; `brokered`: it is a ticket for Switchboard',
    'direct',
    'brokered',
  ),
  url: string(
    'Where to post the offer, with the client secret as a bearer token; null if no offer is accepted',
    'https://api.openai.com/v1/realtime/calls',
  ).nullable(),
  dataChannel: string('`open`: the offer may have a data channel; `none`: it must not', 'open', 'none'),
  serverTools: z
    .array(z.string())
    .optional()
    .meta({
      description:
        'The agent’s tools that Switchboard runs, so that the page must not answer them; absent if there are none',
      examples: [['lookup_order']],
    }),
});
