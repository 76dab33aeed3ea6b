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
  sessionsPerMinute: count.optional().meta({ description: 'Sessions that a visitor may open in a minute' }),
  dailyTokens: tokens.optional().meta({ description: 'Tokens that a visitor may use in a day' }),
  dailyDollars: amount.optional().meta({ description: 'What a visitor may cost in a day' }),
  concurrentSessions: count.optional().meta({ description: 'Sessions that a visitor may have open at once' }),
  newVisitorSeconds: count.optional().meta({
    description:
      'How long a session of a new visitor lasts before words of the visitor are heard, 10 to 86400; of calls that Switchboard hears',
    ...inUnit('seconds', 60),
  }),
});
export const keyTotals = z.object({
  sessionsPerMinute: count.optional().meta({ description: 'Sessions that all visitors may open in a minute' }),
  concurrentSessions: count.optional().meta({ description: 'Sessions that all visitors may have open at once' }),
  tokensDaily: tokens.optional().meta({ description: 'Tokens that all visitors may use in a day' }),
  dollarsDaily: amount.optional().meta({ description: 'What all visitors may cost in a day' }),
});
const label = z.string().meta({ description: 'What it is for, in words', examples: ['Production site'] });
const agents = z.array(agentId).nullable();

/** Why a key that somebody copied would be a free model. */
const keyWarning = z.enum(['overrides', 'no_totals', 'any_agent']);

export type KeyWarning = z.infer<typeof keyWarning>;

const doings = z.object({
  started: count.meta({ description: 'Sessions that were opened' }),
  refused: count.meta({ description: 'Creates that were refused' }),
  challenged: count.meta({
    description: 'Creates that were refused with a challenge, which some of them solve when they come again',
  }),
  solved: count.meta({ description: 'Creates that had solved one' }),
  blocked: count.meta({ description: 'Refusals of creates as those of bots, with a challenge or without' }),
});

/** A widget key as operators see it (docs/contract.md, section 8). */
export const operatorKey = z.object({
  tenantId,
  id: keyId.meta({ description: 'The id of the key in its tenant' }),
  key: z.string().meta({ ...widgetKey.meta(), description: 'The key itself, as pages send it: it is no secret' }),
  origin: origin.meta({ description: 'The only origin from which it works' }),
  label,
  agents: agents.meta({ description: 'The only agents that it opens sessions with; null is any' }),
  allowOverrides: z.boolean().meta({ description: 'Whether pages may ask for another model and instructions' }),
  call: callMode
    .nullable()
    .meta({ description: 'Who opens the calls of its sessions; null is as the agent or CALL_MODE says' }),
  dataChannel: dataChannel.nullable().meta({
    description: 'Whether pages in brokered calls get a data channel to the provider; null is as the agent says',
  }),
  limits: keyLimits.meta({ description: 'What each visitor may use, where that differs from the installation' }),
  totals: keyTotals.meta({ description: 'What all its visitors may use together; what is left out has no ceiling' }),
  bots: keyBots
    .optional()
    .meta({ description: 'How its callers are challenged, where it says so itself; the secret is named, never told' }),
  warnings: z.array(keyWarning).meta({
    description:
      'What makes it open: pages may change what an agent is, nothing bounds what all its visitors use in a day, it is not pinned to agents',
  }),
  revokedAt: instant.nullable().meta({ description: 'When it was revoked, for ever; null where it was not' }),
  pausedAt: instant.nullable().meta({ description: 'Since when it opens no new sessions; null where it does' }),
  live: count.meta({ description: 'Its sessions that have not ended' }),
  today: z
    .object({
      tokens: tokens.meta({ description: 'What they used, input and output together' }),
      dollars: dollars.meta({ description: 'What that cost' }),
    })
    .nullable()
    .meta({ description: 'What all its users have used today; null where that is not known' }),
  refusedHour: z
    .record(z.string(), count)
    .nullable()
    .meta({ description: 'Refusals of the last hour by code; null where they are not known' }),
  day: doings
    .nullable()
    .meta({ description: 'Sessions and refusals of the last 24 hours, the present one among them' }),
  weekAgo: doings.nullable().meta({ description: 'The same of the 24 hours a week before' }),
});

export type OperatorKey = z.infer<typeof operatorKey>;

export const operatorKeys = z.object({
  tenants: z
    .array(
      z.object({
        ...namedTenant.shape,
        agents: z.array(agentId).meta({ description: 'The ids of its agents' }),
        totals: keyTotals
          .nullable()
          .meta({ description: 'Ceilings over all its keys together; null where it has none' }),
        maxKeys: count.nullable().meta({ description: 'How many keys it may have in use; null is any number' }),
        admins: count
          .nullable()
          .meta({ description: 'How many entries its list of admins has; null where it has none' }),
      }),
    )
    .meta({ description: 'The tenants that are shown' }),
  keys: z.array(operatorKey).meta({ description: 'Their widget keys, revoked ones included' }),
});

export const keyFilters = z.object({ tenantId: tenantAsked.optional() });

/** What else is wrong with a key is told by the rules of TENANTS_FILE. */
export const issueKeyRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'Whose key it will be' }),
  id: text(200).meta({ ...keyId.meta(), description: 'The id of the key: 409 where its tenant has it already' }),
  origin: origin.meta({ description: 'The only origin from which it will work' }),
  label: label.optional(),
  agents: agents.optional().meta({
    description: 'The only agents that it opens sessions with; by default those that its tenant has, and null is any',
  }),
  allowOverrides: z
    .boolean()
    .optional()
    .meta({ description: 'Whether pages may ask for another model and instructions; false by default' }),
  call: callMode
    .optional()
    .meta({ description: 'Who opens the calls of its sessions; by default as the agent or CALL_MODE says' }),
  dataChannel: dataChannel
    .optional()
    .meta({ description: 'Whether pages of brokered calls speak to the provider themselves; none by default' }),
  limits: z
    .strictObject(keyLimits.shape)
    .optional()
    .meta({ description: 'What each visitor may use; by default as the installation says' }),
  totals: z.strictObject(keyTotals.shape).optional().meta({
    description: 'What all its visitors may use together; by default what ten of them may, and `{}` is no bound',
  }),
  bots: keyBots.optional().meta({ description: 'How its callers are challenged; by default as the installation says' }),
  reason: auditReason,
});

export const issueKeyReply = z.object({ key: operatorKey.meta({ description: 'The new key' }) });

export const revokeKeyRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'Whose key it is' }),
  reason: auditReason,
  dryRun: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the sessions that would end are only counted, and nothing is revoked' }),
});

export const revokeKeyReply = z.object({
  ok,
  liveSessions: count.meta({ description: 'Sessions that end with it' }),
  revokedAt: instant
    .nullable()
    .meta({ description: 'When it was revoked, for ever; null for a dry run of a key that is not revoked' }),
});

export const pauseKeyRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'Whose key it is' }),
  reason: auditReason,
});

export const pauseKeyReply = z.object({
  ok,
  pausedAt: instant.nullable().meta({ description: 'Since when it is paused; null where it is not' }),
  revokedAt: instant
    .nullable()
    .meta({ description: 'When it was revoked: then it is neither paused nor resumed; null where it was not' }),
});
