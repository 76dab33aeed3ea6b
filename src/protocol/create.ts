import { z } from 'zod';
import { agentSettings } from './agent.ts';
import { email } from './email.ts';
import { heartbeatInterval } from './heartbeat.ts';
import { sessionLimits } from './session.ts';
import { text } from './values.ts';

const { model, voice, tools, instructions } = agentSettings.shape;

/** The body of POST /api/session (docs/contract.md, section 5.1). */
export const createRequest = z.object({
  model,
  voice,
  tenantId: text(128).optional(),
  agentId: text(128).optional(),
  widgetKey: text(256).optional(),
  tools,
  instructions,
  email: email.optional().meta({ description: 'Names the user, who then has limits of their own' }),
});

export type CreateRequest = Readonly<z.infer<typeof createRequest>>;

/** What opens a call with the provider for a short time. */
export const clientSecret = z.object({
  value: z.string(),
  expires_at: z.int().meta({ description: 'Unix timestamp in seconds' }),
});

export type ClientSecret = Readonly<z.infer<typeof clientSecret>>;

/** Its reply (docs/contract.md, section 5.1). */
export const createReply = z.object({
  id: z.string().meta({ description: 'Upstream session identifier; prefix sess_' }),
  sm_session_id: z.string(),
  client_secret: clientSecret,
  heartbeat: heartbeatInterval.extend({ url: z.string(), socketUrl: z.string() }),
  limits: sessionLimits,
});

export type CreateReply = z.infer<typeof createReply>;
