import { z } from 'zod';
import { optionalEmailSchema } from './email.ts';

const idleSec = z.int().min(0).optional();
/** Named by the client, repeated in the answer. */
const frameId = z.union([z.string().max(255), z.int()]);

/** Frames that a client sends (contract section 7); unknown fields are ignored, so that fields can be added. */
export const clientFrames = {
  attach: z.object({ type: z.literal('attach'), sm_session_id: z.string().max(128), email: optionalEmailSchema }),
  heartbeat: z.object({
    type: z.literal('heartbeat'),
    idleSec,
    id: frameId.optional(),
  }),
  usage: z.object({
    type: z.literal('usage'),
    tokens: z.int().min(0).max(1e9),
    dollars: z.number().min(0).max(1e5).meta({ description: 'Rounded half up at the sixth decimal' }),
    id: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: 'The idempotency key: counted once in this session for 24 hours' }),
  }),
  end: z.object({ type: z.literal('end') }),
};

export const clientFrame = z.discriminatedUnion('type', [
  clientFrames.attach,
  clientFrames.heartbeat,
  clientFrames.usage,
  clientFrames.end,
]);

export type ClientFrame = z.infer<typeof clientFrame>;

const state = z.enum(['engaged', 'idle', 'stale', 'ended']);
const session = z.object({
  active: z.boolean(),
  startedAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  durationSec: z.int(),
  idleSec: z.int(),
});
const usage = z.object({
  tokens: z.int(),
  dollars: z.number(),
  dailyTokenLimit: z.int(),
  dailyDollarLimit: z.number(),
  resetAt: z.iso.datetime(),
});

/** Frames that the server sends. */
export const serverFrames = {
  attached: z.object({
    type: z.literal('attached'),
    session,
    state,
    heartbeat: z.object({ intervalSec: z.int() }),
    limits: z.object({ maxMinutes: z.int(), maxIdleSec: z.int() }),
  }),
  heartbeat: z.object({ type: z.literal('heartbeat'), id: frameId.optional(), session, state }),
  usage: z.object({ type: z.literal('usage'), id: z.string(), usage }),
  state: z.object({ type: z.literal('state'), state }),
  warning: z.object({
    type: z.literal('warning'),
    reason: z.enum(['duration', 'idle', 'quota']),
    secondsLeft: z.int().optional(),
  }),
  ended: z.object({
    type: z.literal('ended'),
    code: z.string(),
    reason: z.string(),
    userMessage: z.string(),
    maxMinutes: z.int(),
  }),
  error: z.object({
    type: z.literal('error'),
    code: z.string(),
    error: z.string().optional().meta({ description: 'For a developer' }),
    userMessage: z.string(),
    retryAfter: z.int().optional().meta({ description: 'Seconds after which the same frame may succeed' }),
    id: frameId.optional(),
    counted: z
      .literal(true)
      .optional()
      .meta({ description: 'A usage report that is over the ceiling: it was counted, so do not send it again' }),
    usage: usage.optional(),
  }),
};

const serverFrame = z.discriminatedUnion('type', [
  serverFrames.attached,
  serverFrames.heartbeat,
  serverFrames.usage,
  serverFrames.state,
  serverFrames.warning,
  serverFrames.ended,
  serverFrames.error,
]);

export type ServerFrame = z.infer<typeof serverFrame>;
