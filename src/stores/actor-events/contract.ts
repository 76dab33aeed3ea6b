import type { GuardTold, TransitionStep } from '../../actors/trace.ts';
import type { ActorEventKind, NoteKind } from '../../protocol/operator/event.ts';

/** Machines whose events are kept, by the names that they give themselves. */
export const MACHINES = ['voice-session', 'voice-call', 'otp-challenge', 'auth-session'] as const;

export type MachineName = (typeof MACHINES)[number];

/**
 * What a machine did with one event, or a note: that has no version, event, states, steps and guards. Secrets, codes, addresses and whole ids
 * of voice sessions are not in it.
 */
export interface NewActorEvent {
  readonly machine: MachineName;
  /** The ref of a voice session, the id of any other actor. */
  readonly actor: string;
  /** Of the record after it. */
  readonly version: number | null;
  readonly atMs: number;
  readonly kind: ActorEventKind;
  readonly event: string | null;
  /** Null when the event opened the actor. */
  readonly from: string | null;
  readonly to: string | null;
  readonly steps: readonly TransitionStep[];
  readonly guards: readonly GuardTold[];
  readonly detail: EventDetail;
  readonly node: string;
  readonly requestId: string | null;
}

export type EventDetail = Readonly<Record<string, string | number | boolean | null>>;

/** Something that happened to a voice session beside what its machine did. */
export interface SessionNote {
  readonly sessionId: string;
  /** Null where whoever noted it does not know. */
  readonly tenantId: string | null;
  readonly atMs: number;
  readonly kind: NoteKind;
  readonly detail: EventDetail;
}

/** Takes a note in, at once and without a fault: nobody waits for it. */
export type NoteSession = (note: SessionNote) => void;

export interface ActorEvent extends NewActorEvent {
  /** Grows with the order in which events were kept. */
  readonly ordinal: number;
}

/** A time in which a node had no room for some events. */
export interface LostEvents {
  readonly node: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

export interface ActorEventPage {
  /** The newest first. */
  readonly events: readonly ActorEvent[];
  readonly hasMore: boolean;
}

/** The history of actors. @throws Unavailable when the database is away. */
export interface ActorEvents {
  append(events: readonly NewActorEvent[]): Promise<void>;
  noteLost(lost: LostEvents): Promise<void>;
  /** The events of one actor that are older than `before`, or the newest. */
  of(machine: MachineName, actor: string, before: number | undefined, limit: number): Promise<ActorEventPage>;
  /** Actors that a request did something to, the latest first. */
  actorsOf(machine: MachineName, requestId: string, limit: number): Promise<string[]>;
  /** Times in which events may be missing, within a span, the newest first; at most 100. */
  lostWithin(fromMs: number, toMs: number): Promise<LostEvents[]>;
}
