import { z } from 'zod';
import { nodeId, requestId, commaList, count, instant, ordinal, string } from '../fields.ts';
import { nextCursor, pageAsked } from './pagination.ts';

/** What any machine can do with an event; an event that `stayed` left the state unchanged. */
const TRANSITIONS = ['started', 'moved', 'stayed', 'ended'] as const;
/** What else happens to a voice session. */
const NOTES = ['gap', 'attached', 'detached', 'warned', 'usage'] as const;
/** What others did in connection with a session; included only if `about` asks for it. */
const AROUND = ['tool', 'delivery', 'act', 'refusal'] as const;

/** What a row of a session's timeline can be about. */
export const ABOUT = ['session', 'call', 'usage', 'tool', 'warning', 'webhook', 'operator', 'refusal'] as const;

export type About = (typeof ABOUT)[number];

const eventKind = z
  .enum([...TRANSITIONS, ...NOTES, ...AROUND])
  .describe(
    'What the machine did with the event (`stayed`: it stayed in its state), or what else happened to the session: its client was silent (`gap`), a socket connected or disconnected, its client was warned, it used something; only with `about` also: a call of a `tool`, the `delivery` of a webhook, the `act` of an operator, a `refusal` of its subject',
  );

export type ActorEventKind = (typeof TRANSITIONS)[number] | NoteKind;

export type NoteKind = (typeof NOTES)[number];

const eventName = z.string().meta({ examples: ['CLOCK'] });
const state = z.string().meta({ examples: ['engaged'] });
const path = z.string().meta({ examples: ['live.engaged'] });
const guard = z.string().meta({ examples: ['hasGoneIdle'] });

/** What a machine did with one event, or what else happened to its actor (docs/contract.md, section 8). */
export const operatorEvent = z.object({
  id: string('The id of the event', '1041'),
  at: instant.describe('When it happened'),
  kind: eventKind,
  about: z
    .enum(ABOUT)
    .optional()
    .meta({ description: 'What the event is about; absent in lists of what one machine did', examples: ['call'] }),
  event: eventName
    .nullable()
    .describe(
      'The event sent to the machine, the name of the tool, the type of the webhook, the action of the operator or the code of the refusal; null for other kinds',
    ),
  from: state.nullable().describe('The state before; null if the event opened it'),
  to: state.nullable().describe('The state afterwards; null for kinds that change no state'),
  steps: z
    .array(
      z.object({
        event: eventName.describe('The event of the transition; empty if it follows from the previous one'),
        from: path.describe('The state left'),
        to: path.describe('The state entered'),
        guard: guard.nullable().describe('The guard that allowed it; null if none was evaluated'),
        actions: z
          .array(z.string())
          .meta({ description: 'The actions that changed the record', examples: [['followClock']] }),
      }),
    )
    .describe('The transitions taken, by the paths of the states'),
  guards: z
    .array(
      z.object({
        name: guard.describe('The name of the guard'),
        passed: z.boolean().describe('Whether it allowed the event'),
      }),
    )
    .describe('The guards, in the order of evaluation'),
  record: z
    .object({
      version: ordinal.nullable().describe('The saved version'),
      lastSeenAt: instant.nullable().describe('The session’s last heartbeat'),
      lastActivityAt: instant.nullable().describe('The session’s last activity'),
      settledAt: instant.nullable().describe('The time up to which its machine has followed the clock'),
    })
    .describe('The record afterwards; each field is null for other machines and for kinds that change none'),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).meta({
    description: 'Further facts by name, with the unit in the name; they depend on the kind',
    examples: [{ silentSec: 120 }],
    'x-unit': 'varies',
  }),
  node: nodeId.nullable().describe('The process in which it happened; null for users limited to some tenants'),
  requestId: requestId.nullable().describe('The request that caused it; null if none did'),
});

export type OperatorEvent = z.infer<typeof operatorEvent>;

/** What a machine did, newest first; shown beside the record of its actor. */
export const actorTold = {
  machine: string('The machine that it follows, by its `id`', 'voice-call'),
  events: z.array(operatorEvent).describe('What its machine did, newest first, at most 200'),
  moreEvents: z.boolean().describe('Whether there are older events'),
};

export const operatorEventPage = z.object({
  events: z.array(operatorEvent).describe('What happened to the session, newest first'),
  counts: z
    .partialRecord(z.enum(ABOUT), count)
    .optional()
    .meta({
      description:
        'The number of events by subject (`about`), refusals up to 200, webhooks up to 1,000, others up to 10,000; only on the first page, and only with `about`',
      examples: [{ session: 12, call: 4, usage: 31 }],
    }),
  atLeast: z
    .array(z.enum(ABOUT))
    .optional()
    .meta({
      description: 'Subjects whose number in `counts` reached its maximum, so that there may be more events',
      examples: [['refusal']],
    }),
  nextCursor,
});

/** The query of GET /api/operator/sessions/{id}/events. */
export const pageOfEvents = z.object({
  about: commaList(ABOUT)
    .optional()
    .describe(
      'What to list: one or more of these, separated by commas. By default what the session’s machine did, and its notes',
    ),
  ...pageAsked,
});
