import { z } from 'zod';
import { callMode, dataChannel } from '../call.ts';
import { keyBots } from '../challenge.ts';
import {
  agentId,
  auditReason,
  keyId,
  namedTenant,
  origin,
  tenantId,
  tenantNamed,
  widgetKey,
  count,
  dollars,
  instant,
  integer,
  number,
  ok,
  string,
  text,
  tokens,
} from '../fields.ts';

const amount = number('dollars', 20).min(0);
export const keyLimits = z.object({
  sessionsPerMinute: count.optional().describe('Sessions that each visitor may open per minute'),
  dailyTokens: tokens.optional().describe('Tokens that each visitor may use per day'),
  dailyDollars: amount.optional().describe('The cost that each visitor may cause per day'),
  concurrentSessions: count.optional().describe('Sessions that each visitor may have open at once'),
  newVisitorSeconds: integer(
    'seconds',
    60,
    'How long the session of a new visitor lasts if they say nothing, 10 to 86400; applies to calls that Switchboard hears',
  )
    .min(0)
    .optional(),
});
export const keyTotals = z.object({
  sessionsPerMinute: count.optional().describe('Sessions that all visitors together may open per minute'),
  concurrentSessions: count.optional().describe('Sessions that all visitors together may have open at once'),
  tokensDaily: tokens.optional().describe('Tokens that all visitors together may use per day'),
  dollarsDaily: amount.optional().describe('The cost that all visitors together may cause per day'),
});
const label = string('A label for people', 'Production site');
const agents = z.array(agentId).nullable();

/** Why a copied key would give its holder a model for free. */
const keyWarning = z.enum(['overrides', 'no_totals', 'any_agent']);

export type KeyWarning = z.infer<typeof keyWarning>;

const doings = z.object({
  started: count.describe('Sessions opened'),
  refused: count.describe('Creates refused'),
  challenged: count.describe('Creates refused with a challenge; some are repeated with the solution'),
  solved: count.describe('Creates with a solved challenge'),
  blocked: count.describe('Creates refused with BOT_BLOCKED, with or without a challenge'),
});

/** A widget key as operators see it (docs/contract.md, section 8). */
export const operatorKey = z.object({
  tenantId,
  id: keyId.describe('The id of the key in its tenant'),
  key: z.string().meta({ ...widgetKey.meta(), description: 'The key itself, as pages send it: not a secret' }),
  origin: origin.describe('The only origin from which the key works'),
  label,
  agents: agents.describe('The only agents that it opens sessions with; null for any agent'),
  allowOverrides: z.boolean().describe('Whether pages may choose another model and other instructions'),
  call: callMode.nullable().describe('Who opens the calls of its sessions; null to follow the agent or CALL_MODE'),
  dataChannel: dataChannel
    .nullable()
    .describe('Whether pages in brokered calls get a data channel to the provider; null to follow the agent'),
  limits: keyLimits.describe('Limits of each visitor, if they differ from the installation’s'),
  totals: keyTotals.describe('Ceilings over all its visitors together; no ceiling for what is left out'),
  bots: keyBots
    .optional()
    .describe('How its callers are challenged, if the key sets it; the secret is given by name only'),
  warnings: z
    .array(keyWarning)
    .describe(
      'Why the key is open to misuse: pages may override the agent, nothing limits what all its visitors use per day, it is not pinned to agents',
    ),
  revokedAt: instant.nullable().describe('When it was revoked, permanently; null if it was not'),
  pausedAt: instant
    .nullable()
    .describe('When it was paused, so that it opens no new sessions; null if it is not paused'),
  live: count.describe('Its open sessions'),
  today: z
    .object({
      tokens: tokens.describe('Tokens used, input and output together'),
      dollars: dollars.describe('The cost'),
    })
    .nullable()
    .describe('Usage of all its users today; null if unknown'),
  refusedHour: z.record(z.string(), count).nullable().describe('Refusals of the last hour, by code; null if unknown'),
  day: doings.nullable().describe('Sessions and refusals of the last 24 hours, including the current one'),
  weekAgo: doings.nullable().describe('The same for those 24 hours one week earlier'),
});

export type OperatorKey = z.infer<typeof operatorKey>;

export const operatorKeys = z.object({
  tenants: z
    .array(
      z.object({
        ...namedTenant.shape,
        agents: z.array(agentId).describe('The ids of the tenant’s agents'),
        totals: keyTotals.nullable().describe('Ceilings over all keys of the tenant together; null if it has none'),
        maxKeys: count.nullable().describe('How many keys in use the tenant may have; null for any number'),
        admins: count.nullable().describe('How many entries its list of admins has; null if it has no list'),
      }),
    )
    .describe('The tenants that you may see'),
  keys: z.array(operatorKey).describe('The widget keys of these tenants, including revoked ones'),
});

/** Other mistakes are reported by the rules of TENANTS_FILE. */
export const issueKeyRequest = z.strictObject({
  tenantId: tenantNamed.describe('The tenant to which the key will belong'),
  id: text(200).meta({ ...keyId.meta(), description: 'The id of the key: 409 if its tenant already has it' }),
  origin: origin.describe('The only origin from which the key will work'),
  label: label.optional(),
  agents: agents
    .optional()
    .describe(
      'The only agents that it opens sessions with; by default the tenant’s present agents, null for any agent',
    ),
  allowOverrides: z
    .boolean()
    .optional()
    .describe('Whether pages may choose another model and other instructions; false by default'),
  call: callMode
    .optional()
    .describe('Who opens the calls of its sessions; by default as set by the agent or CALL_MODE'),
  dataChannel: dataChannel
    .optional()
    .describe('Whether pages in brokered calls get a data channel to the provider; `none` by default'),
  limits: z
    .strictObject(keyLimits.shape)
    .optional()
    .describe('Limits of each visitor; by default those of the installation'),
  totals: z
    .strictObject(keyTotals.shape)
    .optional()
    .describe('Ceilings over all its visitors together; by default ten times those of one visitor, `{}` for none'),
  bots: keyBots.optional().describe('How its callers are challenged; by default as the installation does'),
  reason: auditReason,
});

export const issueKeyReply = z.object({ key: operatorKey.describe('The new key') });

export const revokeKeyRequest = z.strictObject({
  tenantId: tenantNamed.describe('The tenant of the key'),
  reason: auditReason,
  dryRun: z.boolean().optional().describe('Only count the sessions that would end, and revoke nothing'),
});

export const revokeKeyReply = z.object({
  ok,
  liveSessions: count.describe('Open sessions of the key, which the revocation ends'),
  revokedAt: instant
    .nullable()
    .describe('When it was revoked, permanently; null in a dry run if the key is not revoked'),
});

export const pauseKeyRequest = z.strictObject({
  tenantId: tenantNamed.describe('The tenant of the key'),
  reason: auditReason,
});

export const pauseKeyReply = z.object({
  ok,
  pausedAt: instant.nullable().describe('When it was paused; null if it is not paused'),
  revokedAt: instant
    .nullable()
    .describe('When it was revoked, so that it can be neither paused nor resumed; null if it was not'),
});
