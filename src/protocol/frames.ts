import { z } from 'zod';
import { callEventFrame, callFrames, callRequestFrames, callStateFrame } from './call-frames.ts';
import { errorBody } from './errors/error-body.ts';
import {
  heartbeatInterval,
  idleSec,
  rateFrame,
  endReason,
  sessionLimits,
  sessionProof,
  sessionState,
  sessionView,
} from './session.ts';
import { frameType, integer, string, text } from './fields.ts';
import { reportedResponse, uncounted, usage, usageAmounts } from './usage.ts';

/** Chosen by the client and repeated in the answer. */
const frameId = z
  .union([z.string().max(255), z.int()])
  .meta({ description: 'An id chosen by the client and repeated in the answer', examples: ['r1'], 'x-unit': 'none' });

/** A BCP 47 tag, of which only the first subtag counts. */
const language = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{1,8}(?:-[A-Za-z\d]{1,8})*$/)
  .meta({
    description:
      'The language of each `userMessage` sent to this socket, as a BCP 47 tag; if it is not supported, the language of the upgrade request (Accept-Language) stays',
    examples: ['de-AT'],
  });

/** Optional features that the client supports; unknown ones are ignored. */
const wants = z
  .array(z.string().max(40))
  .max(8)
  .meta({
    description: 'What else the client understands. `call`: frames about the call of a brokered session',
    examples: [['call']],
  });

/** Frames that a client sends (docs/contract.md, section 7.2). Unknown fields are ignored, so that fields can be added. */
export const clientFrames = {
  attach: z.object({
    type: frameType('attach'),
    ...sessionProof.shape,
    language: language.optional(),
    wants: wants.optional(),
  }),
  heartbeat: z.object({ type: frameType('heartbeat'), idleSec, id: frameId.optional() }),
  usage: z.object({
    type: frameType('usage'),
    ...usageAmounts.shape,
    response: reportedResponse.optional(),
    id: text(255, 'The idempotency key: within 24 hours it is counted once in this session', 'u1'),
  }),
  end: z.object({ type: frameType('end') }),
  rate: rateFrame,
  ...callRequestFrames,
};

export const clientFrame = z.discriminatedUnion('type', [
  clientFrames.attach,
  clientFrames.heartbeat,
  clientFrames.usage,
  clientFrames.end,
  clientFrames.rate,
  clientFrames.say,
  clientFrames.interrupt,
  clientFrames.talk,
  clientFrames.tool_result,
]);

export type ClientFrame = z.infer<typeof clientFrame>;

const { error, code, userMessage, retryAfter, counted } = errorBody.shape;

/** A limit that is about to end a session. */
export const warning = z.object({
  reason: z.enum(['duration', 'idle', 'quota']).describe('The limit that is near'),
  secondsLeft: integer(
    'seconds',
    60,
    'Time left until the limit ends the session; absent if a daily total has crossed 80 or 95 % of its ceiling',
  ).optional(),
});

export type Warning = Readonly<z.infer<typeof warning>>;

export const serverFrames = {
  attached: z.object({
    type: frameType('attached'),
    session: sessionView,
    state: sessionState,
    heartbeat: heartbeatInterval.describe('How the session is kept alive'),
    limits: sessionLimits,
    resume: string(
      'In brokered sessions, for sockets that asked for `call`: the token with which the visitor’s next page can continue the session, once (`resume` of POST /api/session). It replaces any earlier one',
      'rs_Zm9yIG9uZSBwYWdlIG9ubHksIHRoZW4gaXQgaXMgc3BlbnQ',
    ).optional(),
  }),
  heartbeat: z.object({
    type: frameType('heartbeat'),
    id: frameId.optional(),
    session: sessionView,
    state: sessionState,
  }),
  usage: z.object({
    type: frameType('usage'),
    id: string('The `id` of the frame that this answers', 'u1'),
    usage,
    counted: uncounted,
  }),
  state: z.object({
    type: frameType('state'),
    state: sessionState,
    session: sessionView
      .optional()
      .describe('Sent once a new visitor has said something: the session no longer ends early'),
  }),
  warning: z.object({ type: frameType('warning'), ...warning.shape }),
  call: z.union([callEventFrame, callStateFrame]),
  ...callFrames,
  ended: z.object({
    type: frameType('ended'),
    code,
    reason: endReason,
    userMessage,
    maxMinutes: integer('minutes', 15, 'The longest duration of a session'),
  }),
  error: z.object({
    type: frameType('error'),
    code,
    error: error.optional(),
    userMessage,
    retryAfter: retryAfter.describe('How long to wait before sending the same frame again'),
    id: frameId.optional(),
    counted,
    usage: usage.optional(),
  }),
};

export type ServerFrame = {
  [F in keyof typeof serverFrames]: z.infer<(typeof serverFrames)[F]>;
}[keyof typeof serverFrames];
