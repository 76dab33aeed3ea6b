import { keepNewest } from '../../kernel/keep-newest.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { refOf, rowId } from '../../kernel/ids.ts';
import type { NewEntry, SessionNote } from '../../stores/journal/contract.ts';

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
