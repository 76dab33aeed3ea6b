import type { GuardTold, Step } from '../../actors/trace.ts';
import type { ActorEventKind } from '../../protocol/operator/event.ts';

/** Machines whose events are kept, by the names that they give themselves. */
export const MACHINES = ['voice-session', 'voice-call', 'otp-challenge', 'auth-session'] as const;

export type MachineName = (typeof MACHINES)[number];

/** What a machine did with one event; secrets, codes, addresses and whole ids of voice sessions are not in it. */
export interface NewActorEvent {
  readonly machine: MachineName;
  /** The ref of a voice session, the id of any other actor. */
  readonly actor: string;
  /** Of the record after it. */
  readonly version: number;
  readonly atMs: number;
  readonly kind: ActorEventKind;
  readonly event: string;
  /** Null when the event opened the actor. */
  readonly from: string | null;
  readonly to: string;
  readonly steps: readonly Step[];
  readonly guards: readonly GuardTold[];
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly node: string;
  readonly requestId: string | null;
}

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
