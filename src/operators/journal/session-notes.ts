import { keepNewest } from '../../kernel/keep-newest.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { refOf, rowId } from '../../kernel/ids.ts';
import type { NewEntry, SessionNote } from '../../stores/journal/contract.ts';

/** Notes of one session that a process keeps: a client that connects again and again must not fill the history. */
const MAX_OF_ONE = 200;
/** Sessions whose notes are counted, and whose usage is gathered, at the same time; the oldest ones are let go first. */
const MAX_SESSIONS = 20_000;
/** What a session used is told once in so long. */
const USAGE_MS = MINUTE_MS;

export interface SessionNotesDeps {
  /** Who notes. */
  readonly node: string;
  readonly now: () => number;
  /** Takes what is kept. */
  readonly write: (note: NewEntry<'note'>, tenantId: string | null) => void;
  /** Hears of each note of a session that had too many. */
  readonly onLeftOut: () => void;
}

interface Used {
  readonly sessionId: string;
  readonly tenantId: string | null;
  readonly sinceMs: number;
  tokens: number;
  microDollars: number;
}

/**
 * What happens to voice sessions beside what their machines do: silences, sockets, warnings, usage. Usage is gathered, so that a session has
 * one such note a minute however often it reports.
 */
export class SessionNotes {
  readonly #deps: SessionNotesDeps;
  /** How many notes of a session there were, by its ref; the latest last. */
  readonly #counts = new Map<string, number>();
  /** By the id of the session, in the order in which it began. */
  readonly #used = new Map<string, Used>();

  constructor(deps: SessionNotesDeps) {
    this.#deps = deps;
  }

  take(note: SessionNote): void {
    if (note.kind === 'usage') this.#gather(note);
    else this.#write(note);
  }

  /** Tells the usage that was gathered for a minute; to be called about every second. */
  tick(): void {
    const at = this.#deps.now();
    for (const used of this.#used.values()) {
      if (at - used.sinceMs < USAGE_MS) return;
      this.#tell(used);
    }
  }

  /** The session ended at `atMs`: its usage is told before that, also where the end is dated back. */
  ended(sessionId: string, atMs: number): void {
    const used = this.#used.get(sessionId);
    if (used !== undefined) this.#tell(used, Math.min(atMs, this.#deps.now()));
    this.#counts.delete(refOf(sessionId));
  }

  /** Tells all that was gathered: the process stops. */
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

  #tell({ sessionId, tenantId, tokens, microDollars }: Used, atMs = this.#deps.now()): void {
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
