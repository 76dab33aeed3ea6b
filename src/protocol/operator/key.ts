import { z } from 'zod';
import { callMode, dataChannel } from '../call.ts';
import { keyBots } from '../key-bots.ts';
import {
  agentId,
  auditReason,
  keyId,
  namedTenant,
  origin,
  tenantAsked,
  tenantId,
  tenantNamed,
  widgetKey,
} from '../fields.ts';
import { count, dollars, instant, inUnit, ok, text, tokens } from '../values.ts';

const amount = z.number().min(0).meta(inUnit('dollars', 20));
export const keyLimits = z.object({
  sessionsPerMinute: count.optional().meta({ description: 'Sessions that each visitor may open per minute' }),
  dailyTokens: tokens.optional().meta({ description: 'Tokens that each visitor may use per day' }),
  dailyDollars: amount.optional().meta({ description: 'The cost that each visitor may cause per day' }),
  concurrentSessions: count.optional().meta({ description: 'Sessions that each visitor may have open at once' }),
  newVisitorSeconds: count.optional().meta({
    description:
      'How long the session of a new visitor lasts if they say nothing, 10 to 86400; applies to calls that Switchboard hears',
    ...inUnit('seconds', 60),
  }),
});
export const keyTotals = z.object({
  sessionsPerMinute: count.optional().meta({ description: 'Sessions that all visitors together may open per minute' }),
  concurrentSessions: count
    .optional()
    .meta({ description: 'Sessions that all visitors together may have open at once' }),
  tokensDaily: tokens.optional().meta({ description: 'Tokens that all visitors together may use per day' }),
  dollarsDaily: amount.optional().meta({ description: 'The cost that all visitors together may cause per day' }),
});
const label = z.string().meta({ description: 'A label for people', examples: ['Production site'] });
const agents = z.array(agentId).nullable();

/** Why a copied key would give its holder a model for free. */
const keyWarning = z.enum(['overrides', 'no_totals', 'any_agent']);

export type KeyWarning = z.infer<typeof keyWarning>;

const doings = z.object({
  started: count.meta({ description: 'Sessions opened' }),
  refused: count.meta({ description: 'Creates refused' }),
  challenged: count.meta({
    description: 'Creates refused with a challenge; some are repeated with the solution',
  }),
  solved: count.meta({ description: 'Creates with a solved challenge' }),
  blocked: count.meta({ description: 'Creates refused with BOT_BLOCKED, with or without a challenge' }),
});

/** A widget key as operators see it (docs/contract.md, section 8). */
export const operatorKey = z.object({
  tenantId,
  id: keyId.meta({ description: 'The id of the key in its tenant' }),
  key: z.string().meta({ ...widgetKey.meta(), description: 'The key itself, as pages send it: not a secret' }),
  origin: origin.meta({ description: 'The only origin from which the key works' }),
  label,
  agents: agents.meta({ description: 'The only agents that it opens sessions with; null for any agent' }),
  allowOverrides: z.boolean().meta({ description: 'Whether pages may choose another model and other instructions' }),
  call: callMode
    .nullable()
    .meta({ description: 'Who opens the calls of its sessions; null to follow the agent or CALL_MODE' }),
  dataChannel: dataChannel.nullable().meta({
    description: 'Whether pages in brokered calls get a data channel to the provider; null to follow the agent',
  }),
  limits: keyLimits.meta({ description: 'Limits of each visitor, if they differ from the installation’s' }),
  totals: keyTotals.meta({ description: 'Ceilings over all its visitors together; no ceiling for what is left out' }),
  bots: keyBots
    .optional()
    .meta({ description: 'How its callers are challenged, if the key sets it; the secret is given by name only' }),
  warnings: z.array(keyWarning).meta({
    description:
      'Why the key is open to misuse: pages may override the agent, nothing limits what all its visitors use per day, it is not pinned to agents',
  }),
  revokedAt: instant.nullable().meta({ description: 'When it was revoked, permanently; null if it was not' }),
  pausedAt: instant
    .nullable()
    .meta({ description: 'When it was paused, so that it opens no new sessions; null if it is not paused' }),
  live: count.meta({ description: 'Its open sessions' }),
  today: z
    .object({
      tokens: tokens.meta({ description: 'Tokens used, input and output together' }),
      dollars: dollars.meta({ description: 'The cost' }),
    })
    .nullable()
    .meta({ description: 'Usage of all its users today; null if unknown' }),
  refusedHour: z
    .record(z.string(), count)
    .nullable()
    .meta({ description: 'Refusals of the last hour, by code; null if unknown' }),
  day: doings.nullable().meta({ description: 'Sessions and refusals of the last 24 hours, including the current one' }),
  weekAgo: doings.nullable().meta({ description: 'The same for those 24 hours one week earlier' }),
});

export type OperatorKey = z.infer<typeof operatorKey>;

export const operatorKeys = z.object({
  tenants: z
    .array(
      z.object({
        ...namedTenant.shape,
        agents: z.array(agentId).meta({ description: 'The ids of the tenant’s agents' }),
        totals: keyTotals
          .nullable()
          .meta({ description: 'Ceilings over all keys of the tenant together; null if it has none' }),
        maxKeys: count
          .nullable()
          .meta({ description: 'How many keys in use the tenant may have; null for any number' }),
        admins: count
          .nullable()
          .meta({ description: 'How many entries its list of admins has; null if it has no list' }),
      }),
    )
    .meta({ description: 'The tenants that you may see' }),
  keys: z.array(operatorKey).meta({ description: 'The widget keys of these tenants, including revoked ones' }),
});

export const keyFilters = z.object({ tenantId: tenantAsked.optional() });

/** Other mistakes are reported by the rules of TENANTS_FILE. */
export const issueKeyRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'The tenant to which the key will belong' }),
  id: text(200).meta({ ...keyId.meta(), description: 'The id of the key: 409 if its tenant already has it' }),
  origin: origin.meta({ description: 'The only origin from which the key will work' }),
  label: label.optional(),
  agents: agents.optional().meta({
    description:
      'The only agents that it opens sessions with; by default the tenant’s present agents, null for any agent',
  }),
  allowOverrides: z
    .boolean()
    .optional()
    .meta({ description: 'Whether pages may choose another model and other instructions; false by default' }),
  call: callMode
    .optional()
    .meta({ description: 'Who opens the calls of its sessions; by default as set by the agent or CALL_MODE' }),
  dataChannel: dataChannel
    .optional()
    .meta({ description: 'Whether pages in brokered calls get a data channel to the provider; `none` by default' }),
  limits: z
    .strictObject(keyLimits.shape)
    .optional()
    .meta({ description: 'Limits of each visitor; by default those of the installation' }),
  totals: z.strictObject(keyTotals.shape).optional().meta({
    description: 'Ceilings over all its visitors together; by default ten times those of one visitor, `{}` for none',
  }),
  bots: keyBots.optional().meta({ description: 'How its callers are challenged; by default as the installation does' }),
  reason: auditReason,
});

export const issueKeyReply = z.object({ key: operatorKey.meta({ description: 'The new key' }) });

export const revokeKeyRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'The tenant of the key' }),
  reason: auditReason,
  dryRun: z.boolean().optional().meta({ description: 'Only count the sessions that would end, and revoke nothing' }),
});

export const revokeKeyReply = z.object({
  ok,
  liveSessions: count.meta({ description: 'Open sessions of the key, which the revocation ends' }),
  revokedAt: instant
    .nullable()
    .meta({ description: 'When it was revoked, permanently; null in a dry run if the key is not revoked' }),
});

export const pauseKeyRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'The tenant of the key' }),
  reason: auditReason,
});

export const pauseKeyReply = z.object({
  ok,
  pausedAt: instant.nullable().meta({ description: 'When it was paused; null if it is not paused' }),
  revokedAt: instant
    .nullable()
    .meta({ description: 'When it was revoked, so that it can be neither paused nor resumed; null if it was not' }),
});
