import { z } from 'zod';
import { count } from '../values.ts';

/** What kind of event it was, whatever the machine; one that `stayed` left the state as it was. */
const eventKind = z.enum(['started', 'moved', 'stayed', 'ended']);

export type ActorEventKind = z.infer<typeof eventKind>;

/** What a machine did with one event (docs/contract.md, section 8). */
export const operatorEvent = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  kind: eventKind,
  event: z.string().meta({ description: 'The event that the machine was sent' }),
  from: z.string().nullable().meta({ description: 'The state before; null where the event opened it' }),
  to: z.string(),
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
      version: count,
      lastSeenAt: z.iso.datetime().nullable(),
      lastActivityAt: z.iso.datetime().nullable(),
      settledAt: z.iso.datetime().nullable(),
    })
    .meta({ description: 'The record after it' }),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  node: z.string(),
  requestId: z.string().nullable(),
});

export type OperatorEvent = z.infer<typeof operatorEvent>;

export const operatorEventPage = z.object({
  events: z.array(operatorEvent),
  nextCursor: z.string().nullable(),
});

/** What GET /api/operator/sessions/{id}/events may be asked. */
export const pageOfEvents = z.object({
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
