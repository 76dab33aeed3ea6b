import { z } from 'zod';
import { sessionLimits, sessionProof } from './session.ts';
import { agentSettings } from './agent.ts';
import { callTerms } from './call.ts';
import { email } from './email.ts';
import { heartbeatInterval } from './heartbeat.ts';
import { text } from './values.ts';

const MAX_PAIRS = 8;
const MAX_METADATA_BYTES = 512;
const MAX_CONTEXT_BYTES = 2048;

/** Notes of the creator's own, which operators see with the session. */
export const metadata = z
  .record(z.string().min(1), z.string())
  .refine((pairs) => Object.keys(pairs).length <= MAX_PAIRS, `must be at most ${MAX_PAIRS} pairs`)
  .refine(
    (pairs) => Buffer.byteLength(Object.entries(pairs).flat().join('')) <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} bytes in all, names and values together (as UTF-8)`,
  )
  .meta({ description: 'At most 8 pairs of texts, 512 bytes in all; nothing here acts on them' });

export type Metadata = Readonly<z.infer<typeof metadata>>;

/** What a back end tells the servers of the agent's tools, and nobody else. */
const context = z
  .record(z.string(), z.unknown())
  .refine(
    (given) => Buffer.byteLength(JSON.stringify(given)) <= MAX_CONTEXT_BYTES,
    `must be at most ${MAX_CONTEXT_BYTES} bytes as JSON`,
  )
  .meta({
    description:
      'With a service token only: an object of at most 2 KiB that the servers of the agent’s tools are given, and no page, model or operator',
  });

/** The body of POST /api/session (docs/contract.md, section 5.1). */
export const createRequest = z.object({
  ...agentSettings.shape,
  tenantId: text(128).optional(),
  agentId: text(128).optional(),
  widgetKey: text(256).optional(),
  email: email.optional().meta({ description: 'Names the user, who then has limits of their own' }),
  metadata: metadata.optional(),
  context: context.optional(),
  resume: text(128).optional().meta({
    description:
      'A resume token of the `attached` frame: the page goes on with its session, and nothing is opened. Then only `widgetKey`, `tenantId` and `email` count beside it',
  }),
});

export type CreateRequest = Readonly<z.infer<typeof createRequest>>;

/** What opens a call with the provider for a short time. */
export const clientSecret = z.object({
  value: z.string(),
  expires_at: z.int().meta({ description: 'Unix timestamp in seconds' }),
});

export type ClientSecret = Readonly<z.infer<typeof clientSecret>>;

/** What a page has to know of the agent before it speaks. */
const agentTerms = z.object({
  captions: z.boolean().meta({ description: 'Whether what both sides say is written down for the page' }),
  greets: z.boolean().meta({ description: 'Whether the agent speaks first' }),
  push: z.boolean().meta({
    description: 'Whether the visitor is heard only while they hold a button, which the page tells by `talk` frames',
  }),
  tellAi: z.boolean().meta({ description: 'Whether the page has to tell its visitor that they speak with an AI' }),
});

export type AgentTerms = Readonly<z.infer<typeof agentTerms>>;

/** The query of GET /api/realtime/agent (docs/contract.md, section 5.15). */
export const agentQuery = z.object({
  widgetKey: text(256).meta({ examples: ['w_acme_site_4f1c0e8b7d2a49c3b6e5f0a1d2c3b4e5'] }),
  agentId: text(128).optional().meta({ description: 'As in a create: needed where the key is pinned to several' }),
});

/** What GET /api/realtime/agent replies: the terms that a create would have. */
export const agentReply = z.object({ agent: agentTerms });

export type AgentReply = Readonly<z.infer<typeof agentReply>>;

/** Its reply (docs/contract.md, section 5.1). */
export const createReply = z.object({
  id: z.string().meta({ description: 'Upstream session identifier; prefix sess_' }),
  sm_session_id: z.string(),
  client_secret: clientSecret,
  heartbeat: heartbeatInterval.extend({ url: z.string(), socketUrl: z.string() }),
  limits: sessionLimits,
  call: callTerms,
  agent: agentTerms.optional(),
  resumed: z.literal(true).optional().meta({ description: 'The session was there before: see `resume`' }),
});

export type CreateReply = z.infer<typeof createReply>;

/** The body of POST /api/realtime/ticket (docs/contract.md, section 5.11). */
export const ticketRequest = sessionProof;

/** Its reply. */
export const ticketReply = z.object({ client_secret: clientSecret });
