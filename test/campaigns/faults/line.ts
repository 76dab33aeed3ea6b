import { SocketClient } from '../../support/socket-client.ts';
import type { Entry, Outcome, SocketLife } from '../../support/journal.ts';
import { PATIENCE_MS, type Caller } from './caller.ts';
import type { Random } from './random.ts';
import { site } from './settings.ts';

type Verdict = Pick<Entry, 'outcome' | 'code' | 'reason'>;
type Heard = (verdict: Verdict) => void;

interface Frame {
  readonly type: string;
  readonly id?: number;
  readonly code?: string;
  readonly reason?: string;
}

/** One socket: its unanswered requests, and its life. */
class Wire {
  readonly life: SocketLife;
  readonly #client: SocketClient;
  /** In the order in which the server must answer. */
  readonly #asked = new Map<number, Heard>();

  constructor(client: SocketClient, life: SocketLife) {
    this.#client = client;
    this.life = life;
    void this.#listen();
    // Handles the messages that arrived before the close first.
    void client.closed.then(({ code }) => setImmediate(() => this.#closed(code)));
  }

  /** Neither closed nor about to be closed. */
  get isOpen(): boolean {
    return this.life.closedAt === undefined && this.life.ends.length === 0;
  }

  ask(id: number, frame: object): Promise<Verdict> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(unknown('timeout')), PATIENCE_MS.heartbeat);
      this.#asked.set(id, (verdict) => {
        clearTimeout(timer);
        resolve(verdict);
      });
      if (this.isOpen) this.#client.say(frame);
      else this.#answer(id, unknown('broken'));
    });
  }

  leave(): void {
    this.life.isLeft ||= this.life.closedAt === undefined;
    this.life.closedAt ??= Date.now();
    this.#client.socket.close();
  }

  async #listen(): Promise<void> {
    try {
      for (;;) this.#hear(JSON.parse(await this.#client.hear()) as Frame);
    } catch {
      // The socket is closed: see `#closed`.
    }
  }

  #hear({ type, id, code, reason }: Frame): void {
    const oldest = this.#asked.keys().next().value ?? 0;
    if (this.life.ends.length > 0) this.life.framesAfterEnd += 1;
    if (type === 'attached') this.life.attachedAt = Date.now();
    if (type === 'attached') this.#answer(oldest, { outcome: 200, code, reason });
    if (type === 'heartbeat') this.#answer(id ?? 0, { outcome: 200, code, reason });
    if (type === 'error') this.#answer(oldest, { outcome: code === 'SERVICE_UNAVAILABLE' ? 503 : 500, code, reason });
    if (type !== 'ended') return;
    this.life.ends.push({ at: Date.now(), reason: reason ?? '' });
    this.#answerAll({ outcome: 403, code, reason });
  }

  #closed(code: number): void {
    this.life.closedAt ??= Date.now();
    this.life.closeCode = code;
    this.#answerAll(code === 4404 ? { ...unknown(404), code: 'SESSION_NOT_FOUND' } : unknown('broken'));
  }

  #answer(id: number, verdict: Verdict): void {
    this.#asked.get(id)?.(verdict);
    this.#asked.delete(id);
  }

  #answerAll(verdict: Verdict): void {
    for (const id of this.#asked.keys()) this.#answer(id, verdict);
  }
}

/** How a client holds a session over WebSockets: one socket at a time, at any node; when it closes, another one. */
export class Line {
  readonly #caller: Caller;
  readonly #random: Random;
  readonly #who: { readonly session: string; readonly email: string };
  #wire: Wire | undefined;
  #attaching: Promise<Entry> | undefined;
  #ids = 0;

  constructor(caller: Caller, random: Random, who: { readonly session: string; readonly email: string }) {
    this.#caller = caller;
    this.#random = random;
    this.#who = who;
  }

  /** Sends a heartbeat, after attaching if necessary. */
  async heartbeat(): Promise<Entry> {
    const attached = await this.attach();
    const wire = this.#wire;
    if (wire === undefined || attached.outcome !== 200) return attached;
    // Another heartbeat of this client may have heard of the end meanwhile.
    if (!wire.isOpen) return this.heartbeat();
    this.#ids += 1;
    const id = this.#ids;
    const beat = await this.#note('heartbeat', wire.life.node, () => wire.ask(id, { type: 'heartbeat', id }));
    // The next heartbeat goes to another node.
    if (beat.outcome === 'timeout') wire.leave();
    return beat;
  }

  /** Attaches a socket unless one is open; @returns the outcome at the last node that was tried. */
  attach(): Promise<Entry> {
    if (this.#wire?.isOpen !== true) this.#attaching = undefined;
    this.#attaching ??= this.#attachAnywhere();
    return this.#attaching;
  }

  /** Whether the last socket was told that the session is over. */
  get hasEnded(): boolean {
    return (this.#wire?.life.ends.length ?? 0) > 0;
  }

  leave(): void {
    this.#wire?.leave();
  }

  async #attachAnywhere(): Promise<Entry> {
    let entry: Entry | undefined;
    for (const node of this.#random.shuffled(this.#caller.origins.map((_, index) => index))) {
      entry = await this.#note('attach', node, () => this.#attachTo(node));
      if (entry.outcome === 200 || entry.outcome === 403) break;
    }
    return entry as Entry;
  }

  async #attachTo(node: number): Promise<Verdict> {
    const url = `${this.#caller.origins[node]?.replace('http', 'ws')}/api/realtime/socket`;
    const client = new SocketClient(url, 'switchboard.v1', { origin: site });
    const isOpen = await within(
      client.opened.then(
        () => 200 as const,
        () => 'refused' as const,
      ),
    );
    const life: SocketLife = { session: this.#who.session, node, ends: [], framesAfterEnd: 0, isLeft: false };
    const wire = new Wire(client, life);
    if (isOpen !== 200) {
      wire.leave();
      return unknown(isOpen);
    }
    this.#caller.journal.sockets.push(life);
    this.#wire = wire;
    const verdict = await wire.ask(0, { type: 'attach', sm_session_id: this.#who.session, email: this.#who.email });
    if (verdict.outcome !== 200) wire.leave();
    return verdict;
  }

  async #note(call: 'attach' | 'heartbeat', node: number, work: () => Promise<Verdict>): Promise<Entry> {
    const sentAt = Date.now();
    const verdict = await work();
    const entry: Entry = { call, node, sentAt, doneAt: Date.now(), about: this.#who, ...verdict };
    this.#caller.journal.add(entry);
    return entry;
  }
}

function unknown(outcome: Outcome): Verdict {
  return { outcome, code: undefined, reason: undefined };
}

function within(opening: Promise<200 | 'refused'>): Promise<200 | 'refused' | 'timeout'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), PATIENCE_MS.attach);
  });
  return Promise.race([opening, late]).finally(() => clearTimeout(timer));
}
