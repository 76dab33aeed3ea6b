import { z } from 'zod';
import { emailSchema, optionalEmailSchema } from '../protocol/email.ts';

const text = (max: number): z.ZodString => z.string().min(1).max(max);
/** Values that the examples of the interface description share. */
export const sample = {
  sm_session_id: 's:7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4:kX2vQ9mB4tYw7nLcR1sZ0A',
  email: 'ada@example.com',
  requestId: 'req_AMumvXlM6',
  session: {
    active: true,
    startedAt: '2030-01-01T12:00:00.000Z',
    lastSeenAt: '2030-01-01T12:01:30.000Z',
    durationSec: 90,
    idleSec: 0,
  },
  usage: {
    tokens: 1200,
    dollars: 0.02,
    dailyTokenLimit: 300_000,
    dailyDollarLimit: 20,
    resetAt: '2030-01-02T00:00:00.000Z',
  },
} as const;

const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC' });

export const email = emailSchema.meta({ description: 'One plain e-mail address', examples: ['ada@example.com'] });
export const optionalEmail = optionalEmailSchema.meta({
  description: 'Needed when the session was created for an e-mail address; "" and null are as if left out',
});
export const sessionId = z
  .string()
  .max(128)
  .meta({ description: 'sm_session_id as the create reply gave it: s:<email_hash>:<session_id>' });
export const ok = z.literal(true);

const tool = z
  .looseObject({
    kind: text(64).meta({ examples: ['http_tool'] }),
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'),
    description: z.string().max(4096).optional(),
  })
  .meta({ description: 'Further fields pass through, for example parameters (a JSON schema).' });

export const createRequest = z
  .object({
    model: text(128).optional(),
    voice: text(128).optional(),
    tenantId: text(128).optional(),
    agentId: text(128).optional(),
    widgetKey: text(256).optional(),
    tools: z.array(tool).max(128).optional(),
    instructions: z
      .string()
      .refine((value) => Buffer.byteLength(value) <= 32_768, 'must have at most 32 KiB')
      .optional(),
    email: email.optional(),
  })
  .meta({ id: 'CreateSessionRequest' });

export const createReply = z
  .object({
    id: z.string().meta({ description: 'Upstream session identifier; prefix sess_' }),
    sm_session_id: z.string(),
    client_secret: z.object({
      value: z.string(),
      expires_at: z.int().meta({ description: 'Unix timestamp in seconds' }),
    }),
    heartbeat: z.object({ intervalSec: z.int(), url: z.string(), socketUrl: z.string() }),
    limits: z.object({ maxMinutes: z.int(), maxIdleSec: z.int() }),
  })
  .meta({ id: 'CreateSessionReply' });

export const liveSession = z
  .object({
    active: z.boolean(),
    startedAt: instant,
    lastSeenAt: instant,
    durationSec: z.int(),
    idleSec: z.int(),
  })
  .meta({ id: 'LiveSession' });

export const sessionReply = z.object({ ok, session: liveSession });

export const authSession = z
  .object({ email: z.string(), sessionId: z.string().meta({ description: 'Prefix auth_' }), expiresAt: instant })
  .meta({ id: 'AuthSession' });

export const usageTotals = z
  .object({
    tokens: z.int(),
    dollars: z.number(),
    dailyTokenLimit: z.int(),
    dailyDollarLimit: z.number(),
    resetAt: instant,
  })
  .meta({ id: 'UsageTotals' });

export const idempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().meta({
    description:
      'Repeating a request with the same key and body answers the same and does nothing twice. Draw it at random.',
  }),
});

export const createIdempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(16).max(255).optional().meta({
    description:
      'Repeating a create with the same key and body, from the same page and network, answers with the same session and mints nothing twice. Draw it at random.',
  }),
});

/** Every error of the service (specification section 7). */
export const errorBody = z
  .object({
    error: z.string().meta({ description: 'For a developer' }),
    code: z.string(),
    userMessage: z.string().meta({ description: 'For an end user' }),
    retryAfter: z.int().optional().meta({ description: 'Seconds' }),
    reason: z.string().optional(),
    maxMinutes: z.int().optional(),
    counted: z
      .literal(true)
      .optional()
      .meta({ description: 'A usage report: it was counted although it is refused, so do not send it again' }),
    usage: usageTotals.optional().meta({ description: 'With counted: the totals right after the report' }),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Error' });
