import { z } from 'zod';
import { sessionLimits, sessionProof, heartbeatInterval } from './session.ts';
import { agentSettings } from './agent.ts';
import { callTerms } from './call.ts';
import { email } from './email.ts';
import { agentId, sessionIdExample, tenantNamed, widgetKey, integer, string, text } from './fields.ts';

const MAX_PAIRS = 8;
const MAX_METADATA_BYTES = 512;
const MAX_CONTEXT_BYTES = 2048;

/** The creator's own notes, which operators see with the session. */
export const metadata = z
  .record(z.string().min(1), z.string())
  .refine((pairs) => Object.keys(pairs).length <= MAX_PAIRS, `must be at most ${MAX_PAIRS} pairs`)
  .refine(
    (pairs) => Buffer.byteLength(Object.entries(pairs).flat().join('')) <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} bytes in all, names and values together (as UTF-8)`,
  )
  .meta({
    description:
      'The creator’s notes for operators: at most 8 name-value pairs of strings, 512 bytes in all; Switchboard itself ignores them',
    examples: [{ page: 'checkout' }],
  });

export type Metadata = Readonly<z.infer<typeof metadata>>;

/** What a back end tells the servers behind the agent's tools, and nobody else. */
const context = z
  .record(z.string(), z.unknown())
  .refine(
    (given) => Buffer.byteLength(JSON.stringify(given)) <= MAX_CONTEXT_BYTES,
    `must be at most ${MAX_CONTEXT_BYTES} bytes as JSON`,
  )
  .meta({
    description:
      'Only with a service token: an object of at most 2 KiB that is given to the servers of the agent’s tools, and never to a page, model or operator',
    examples: [{ customer: 'c_1041' }],
  });

/** The body of POST /api/session (docs/contract.md, section 5.1). */
export const createRequest = z.object({
  widgetKey: widgetKey
    .optional()
    .describe('The page’s widget key. Console callers leave it out and send their login cookie'),
  agentId: text(128)
    .optional()
    .meta({
      ...agentId.meta(),
      description: 'The id of the agent to speak with; required if the key is pinned to several agents',
    }),
  tenantId: tenantNamed
    .optional()
    .describe('Required from console callers who may use several tenants. For widget callers the key determines it'),
  email: email
    .optional()
    .describe('Identifies the user, who then has limits of their own; heartbeats must then send it as well'),
  metadata: metadata.optional(),
  context: context.optional(),
  resume: text(
    128,
    'A resume token from the `attached` frame: the page continues its session, and no new one is opened. Only `widgetKey`, `tenantId` and `email` are then also read',
    'rs_Zm9yIG9uZSBwYWdlIG9ubHksIHRoZW4gaXQgaXMgc3BlbnQ',
  ).optional(),
  ...agentSettings.shape,
});

export type CreateRequest = Readonly<z.infer<typeof createRequest>>;

/** A short-lived secret that opens a call with the provider. */
export const clientSecret = z.object({
  value: string(
    'The secret, to be sent as a bearer token: it opens one call; in a brokered session it is a ticket for Switchboard',
    'ek_68af296e8e408191a1120ab6383263c2',
  ),
  expires_at: integer('Unix seconds', 1_893_499_260, 'When it expires'),
});

export type ClientSecret = Readonly<z.infer<typeof clientSecret>>;

/** What a page must know about the agent before it speaks. */
export const agentTerms = z.object({
  captions: z.boolean().describe('Whether the page gets captions of both sides'),
  greets: z.boolean().describe('Whether the agent speaks first'),
  push: z
    .boolean()
    .describe('Whether the visitor is heard only while they hold a button, which the page reports by `talk` frames'),
  tellAi: z.boolean().describe('Whether the page must tell its visitor that they speak with an AI'),
});

export type AgentTerms = Readonly<z.infer<typeof agentTerms>>;

/** The query of GET /api/realtime/agent (docs/contract.md, section 5.15). */
export const agentQuery = z.object({
  widgetKey,
  agentId: text(128)
    .optional()
    .meta({ ...agentId.meta(), description: 'As in a create: required if the key is pinned to several agents' }),
});

/** The reply of GET /api/realtime/agent: the terms that a create would have, and the settings of the element. */
export const agentReply = z.object({
  agent: agentTerms
    .extend({
      element: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({
          description: 'The element’s look and texts for this agent, if `agents[].element` sets them',
          examples: [{ colours: { accent: '#0b6651' } }],
        }),
    })
    .describe('What the page needs to know about the agent'),
});

export type AgentReply = Readonly<z.infer<typeof agentReply>>;

/** The reply of POST /api/session (docs/contract.md, section 5.1). */
export const createReply = z.object({
  id: string(
    'The provider’s session id, with the prefix sess_; in a brokered session an id from Switchboard',
    'sess_C9CwUVUzUzYIssh3ELY1d',
  ),
  sm_session_id: string(
    'The session id at Switchboard: anyone who has it can keep the session alive and end it, so keep it secret',
    sessionIdExample,
  ),
  client_secret: clientSecret.describe('The secret that opens the first call'),
  heartbeat: heartbeatInterval
    .extend({
      url: string('Where to post heartbeats', 'https://voice.example.com/api/realtime/heartbeat'),
      socketUrl: string(
        'The WebSocket that can be used instead of posting heartbeats',
        'wss://voice.example.com/api/realtime/socket',
      ),
    })
    .describe('How the session is kept alive'),
  limits: sessionLimits.describe('The limits at which the session ends by itself'),
  call: callTerms.describe('How the page opens the call'),
  agent: agentTerms.optional().describe('What the page needs to know about the agent'),
  resumed: z.literal(true).optional().describe('Present if an existing session was continued: see `resume`'),
});

export type CreateReply = z.infer<typeof createReply>;

/** The body of POST /api/realtime/ticket (docs/contract.md, section 5.11). */
export const ticketRequest = sessionProof;

/** The reply of POST /api/realtime/ticket. */
export const ticketReply = z.object({
  client_secret: clientSecret.describe('The secret that opens another call of the session'),
});

/** The header of a create that says which trace its session belongs to (docs/contract.md, section 5.1). */
export const traceparentHeader = z.object({
  traceparent: string(
    'The caller’s trace (W3C Trace Context): the session joins it if a service token is sent, otherwise its own trace links to it. A malformed value is ignored',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ).optional(),
});
