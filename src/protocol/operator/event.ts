import { z } from 'zod';
import { count } from '../values.ts';

/** What a machine did with an event, whatever the machine; one that `stayed` left the state as it was. */
const TRANSITIONS = ['started', 'moved', 'stayed', 'ended'] as const;
/** What happened to a voice session beside that. */
const NOTES = ['gap', 'attached', 'detached', 'warned', 'usage'] as const;

const eventKind = z.enum([...TRANSITIONS, ...NOTES]);

export type ActorEventKind = z.infer<typeof eventKind>;

export type NoteKind = (typeof NOTES)[number];

/** What a machine did with one event, or what happened to its actor beside (docs/contract.md, section 8). */
export const operatorEvent = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  kind: eventKind,
  event: z
    .string()
    .nullable()
    .meta({ description: 'The event that the machine was sent; null for kinds that are none of its events' }),
  from: z.string().nullable().meta({ description: 'The state before; null where the event opened it' }),
  to: z.string().nullable().meta({ description: 'The state after it; null for kinds that change no state' }),
  steps: z
    .array(
      z.object({
        event: z.string().meta({ description: 'Empty where the step follows from the one before' }),
        from: z.string(),
        to: z.string(),
        guard: z.string().nullable(),
        actions: z.array(z.string()),
      }),
    )
    .meta({ description: 'The transitions it took, by the paths of the states' }),
  guards: z
    .array(z.object({ name: z.string(), passed: z.boolean() }))
    .meta({ description: 'The guards in the order in which they were asked' }),
  record: z
    .object({
      version: count.nullable(),
      lastSeenAt: z.iso.datetime().nullable(),
      lastActivityAt: z.iso.datetime().nullable(),
      settledAt: z.iso.datetime().nullable(),
    })
    .meta({ description: 'The record after it' }),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  node: z.string().nullable().meta({ description: 'Null for who is shown some tenants only' }),
  requestId: z.string().nullable(),
});

export type OperatorEvent = z.infer<typeof operatorEvent>;

/** What a machine did, beside the record of its actor, the newest first. */
export const actorTold = { machine: z.string(), events: z.array(operatorEvent), moreEvents: z.boolean() };

export const operatorEventPage = z.object({
  events: z.array(operatorEvent),
  nextCursor: z.string().nullable(),
});

/** What GET /api/operator/sessions/{id}/events may be asked. */
export const pageOfEvents = z.object({
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
