import type { StateValue } from 'xstate';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { ChallengeRecord } from '../../../machines/otp-challenge/types.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { TracedEvent } from '../../actors/trace.ts';
import { refOf, rowId } from '../../kernel/ids.ts';
import type {
  FlatDetail,
  MachineName,
  NewEntry,
  TransitionDetail,
  SessionNote,
} from '../../stores/journal/contract.ts';
import { keepNewest } from '../../kernel/collections.ts';
import { MINUTE_MS } from '../../kernel/time.ts';

/** The records of the machines whose transitions are kept. */
interface Records {
  readonly 'voice-session': VoiceRecord;
  readonly 'voice-call': CallRecord;
  readonly 'otp-challenge': ChallengeRecord;
  readonly 'auth-session': AuthRecord;
}

export type HostedRecords = Records[MachineName];

interface TransitionPolicy<R> {
  /** The actor's name in the journal, because an id may itself be its caller's proof. */
  readonly nameOf: (record: R) => string;
  /** The fields of a record that are kept: never a code or its hash, an address, or a whole id of a voice session. */
  readonly detailOf: (record: R) => FlatDetail;
  /** A state, besides final ones, in which nothing more is expected to happen. */
  readonly over?: string;
  /** Whether events that do not change the state are kept. */
  readonly keepsStays: boolean;
}

const policies: { readonly [M in MachineName]: TransitionPolicy<Records[M]> } = {
  'voice-session': {
    nameOf: ({ id }) => refOf(id),
    detailOf: ({ endReason, lastSeenAtMs, lastActivityAtMs, settledAtMs }) => ({
      reason: endReason,
      lastSeenAtMs,
      lastActivityAtMs,
      settledAtMs,
    }),
    keepsStays: false,
  },
  'voice-call': {
    nameOf: ({ id }) => id,
    detailOf: ({ sessionId, closeReason, hangup, hangupTries, ownerNode }) => ({
      session: refOf(sessionId),
      reason: closeReason,
      hangup,
      hangupTries,
      ownerNode,
    }),
    over: 'closed',
    keepsStays: true,
  },
  'otp-challenge': {
    nameOf: ({ id }) => id,
    detailOf: ({ attempts, maxAttempts }) => ({ attempts, maxAttempts }),
    keepsStays: true,
  },
  'auth-session': {
    nameOf: ({ id }) => id,
    detailOf: ({ destroyReason }) => ({ reason: destroyReason }),
    // A login is renewed once a minute, which is not worth keeping.
    keepsStays: false,
  },
};

/** How the events of a machine enter the journal. */
export function policyOf(machine: string): TransitionPolicy<HostedRecords> {
  return policies[machine as MachineName] as TransitionPolicy<HostedRecords>;
}

/** The journal entry of what a machine did; undefined for what is not kept. */
export function transitionOf(traced: TracedEvent<HostedRecords>, node: string): NewEntry<'transition'> | undefined {
  const machine = traced.machine as MachineName;
  const telling = policyOf(machine);
  const { record, event, atMs, requestId, steps, guards } = traced;
  const from = traced.from === undefined ? null : leafOf(traced.from);
  const to = leafOf(traced.to);
  const change = changeOf(from, to, traced.isFinal || to === telling.over);
  if (change === 'stayed' && !telling.keepsStays) return undefined;
  return {
    id: rowId(),
    kind: 'transition',
    atMs,
    node,
    requestId,
    of: { machine, target: telling.nameOf(record) },
    code: event,
    detail: { change, from, to, steps, guards, version: record.version, record: telling.detailOf(record) },
  };
}

function changeOf(from: string | null, to: string, isOver: boolean): TransitionDetail['change'] {
  if (from === null) return 'started';
  if (from === to) return 'stayed';
  return isOver ? 'ended' : 'moved';
}

/** The innermost state, which is what stores and clients call the state. */
function leafOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [name = '', inner] = Object.entries(value)[0] ?? [];
  return inner === undefined ? name : leafOf(inner);
}

/** Notes of one session that a process keeps: a client that reconnects again and again must not fill the history. */
const MAX_OF_ONE = 200;
/** Sessions whose notes are counted, or whose usage is collected, at the same time; the oldest are dropped first. */
const MAX_SESSIONS = 20_000;
/** How often the usage of a session is noted. */
const USAGE_MS = MINUTE_MS;

export interface SessionNotesDeps {
  /** This node. */
  readonly node: string;
  readonly now: () => number;
  /** Receives the notes that are kept. */
  readonly write: (note: NewEntry<'note'>, tenantId: string | null) => void;
  /** Called for each note of a session that already has too many. */
  readonly onLeftOut: () => void;
}

interface CollectedUsage {
  readonly sessionId: string;
  readonly tenantId: string | null;
  readonly sinceMs: number;
  tokens: number;
  microDollars: number;
}

/**
 * Notes what happens to voice sessions besides the transitions of their machines: gaps, sockets, warnings, usage. Usage is collected, so
 * that a session has one such note per minute however often it reports.
 */
export class SessionNotes {
  readonly #deps: SessionNotesDeps;
  /** Notes so far, by the ref of the session; most recent last. */
  readonly #counts = new Map<string, number>();
  /** By the id of the session, in the order in which collecting began. */
  readonly #used = new Map<string, CollectedUsage>();

  constructor(deps: SessionNotesDeps) {
    this.#deps = deps;
  }

  take(note: SessionNote): void {
    if (note.kind === 'usage') this.#gather(note);
    else this.#write(note);
  }

  /** Notes usage that was collected for a minute. Call it about every second. */
  tick(): void {
    const at = this.#deps.now();
    for (const used of this.#used.values()) {
      if (at - used.sinceMs < USAGE_MS) return;
      this.#tell(used);
    }
  }

  /** Call when the session ended at `atMs`: its usage is noted before that time, even if the end is backdated. */
  ended(sessionId: string, atMs: number): void {
    const used = this.#used.get(sessionId);
    if (used !== undefined) this.#tell(used, Math.min(atMs, this.#deps.now()));
    this.#counts.delete(refOf(sessionId));
  }

  /** Notes all collected usage, because the process stops. */
  finish(): void {
    for (const used of this.#used.values()) this.#tell(used);
  }

  #gather({ sessionId, tenantId, detail }: SessionNote): void {
    let used = this.#used.get(sessionId);
    if (used === undefined) {
      const [oldest] = this.#used.values();
      if (oldest !== undefined && this.#used.size >= MAX_SESSIONS) this.#tell(oldest);
      used = { sessionId, tenantId, sinceMs: this.#deps.now(), tokens: 0, microDollars: 0 };
      this.#used.set(sessionId, used);
    }
    used.tokens += Number(detail['tokens']);
    used.microDollars += Number(detail['microDollars']);
  }

  #tell({ sessionId, tenantId, tokens, microDollars }: CollectedUsage, atMs = this.#deps.now()): void {
    this.#used.delete(sessionId);
    const detail = { tokens, dollars: microDollars / 1_000_000 };
    this.#write({ sessionId, tenantId, atMs, kind: 'usage', detail });
  }

  #write({ sessionId, tenantId, atMs, kind, detail }: SessionNote): void {
    const ref = refOf(sessionId);
    if (!this.#hasRoom(ref)) return this.#deps.onLeftOut();
    const { node } = this.#deps;
    const of = { machine: 'voice-session', target: ref } as const;
    this.#deps.write({ id: rowId(), kind: 'note', atMs, node, requestId: null, of, code: kind, detail }, tenantId);
  }

  #hasRoom(ref: string): boolean {
    const count = this.#counts.get(ref) ?? 0;
    this.#counts.delete(ref);
    keepNewest(this.#counts.set(ref, Math.min(count + 1, MAX_OF_ONE)), MAX_SESSIONS);
    return count < MAX_OF_ONE;
  }
}
