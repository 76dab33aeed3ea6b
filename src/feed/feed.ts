import type { Operator } from '../auth/operators.ts';
import type { Socket, SocketListener } from '../kernel/socket.ts';
import { feedCloseCode, type FeedFact } from '../protocol/operator/feed.ts';
import type { Bus, BusMessage } from '../stores/bus/contract.ts';
import { Watcher } from './watcher.ts';

/** What a node tells the others of at once, and how often. */
const MOST_FACTS = 200;
const TELL_MS = 250;
const COUNT_MS = 2000;
/** How often a node says that somebody watches here, and how long the others believe it. */
const SAY_MS = 5000;
const BELIEVE_MS = 15_000;
/** How often it is asked anew who watches. */
const RECHECK_MS = 60_000;
const MOST_SOCKETS = 50;
const MOST_SOCKETS_OF_ONE = 5;

/** What an upgrade brought along to tell who watches. */
export interface FeedCredentials {
  /** The name of a service token. */
  readonly service: string | null;
  /** The token of the console cookie. */
  readonly token: string | null;
}

export interface Admission {
  readonly operator: Operator;
  /** Null for a service token. */
  readonly loginId: string | null;
}

/** How many sessions there are in each state. */
export type StateCounts = Readonly<Record<'engaged' | 'idle' | 'stale' | 'ended', number>>;

export interface FeedDeps {
  readonly node: string;
  readonly bus: Bus;
  readonly now: () => number;
  /** Who watches; undefined without a login. @throws Unavailable (rejects) when that cannot be found out */
  readonly admit: (credentials: FeedCredentials) => Promise<Admission | undefined>;
  /** @returns null where they are not known; @throws Unavailable (rejects) when the database is away */
  readonly countsOf: (tenants: '*' | readonly string[]) => Promise<StateCounts | null>;
  /** Gets faults that no watcher can be told of. */
  readonly onError: (error: unknown) => void;
}

interface Admitted {
  readonly credentials: FeedCredentials;
  loginId: string | null;
  checkedAtMs: number;
}

/** The listener of a socket that was refused. */
const ignoring: SocketListener = { message() {}, binary() {}, ping() {}, closed() {} };

/**
 * The operators' feed of this node (docs/contract.md, section 8.1): tells its watchers what happens on every node. Nodes tell each other of
 * it only while somebody watches somewhere.
 */
export class Feed {
  readonly #deps: FeedDeps;
  readonly #watchers = new Map<Watcher, Admitted>();
  /** Other nodes with watchers: until when that is believed, and the sessions whose events they want. */
  readonly #others = new Map<string, { untilMs: number; refs: readonly string[] }>();
  readonly #stops: readonly (() => void)[];
  #facts: FeedFact[] = [];
  #more = 0;
  #toldAtMs = -Infinity;
  #countedAtMs = -Infinity;
  #saidAtMs = -Infinity;
  #saidRefs = '';
  #wasConnected = true;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
    this.#stops = [deps.bus.subscribe((message) => this.#hear(message)), deps.bus.onGap(() => this.#tellGap())];
  }

  /** How many sockets are open here. */
  get size(): number {
    return this.#watchers.size;
  }

  /** Whether anybody watches, here or elsewhere: while nobody does, nothing need be told. */
  get isWatched(): boolean {
    return this.#watchers.size > 0 || this.#others.size > 0;
  }

  /** Whether anybody wants the events of the session. */
  isFollowed(ref: string): boolean {
    for (const watcher of this.#watchers.keys()) if (watcher.ref?.startsWith(ref) === true) return true;
    for (const { refs } of this.#others.values()) if (refs.includes(ref)) return true;
    return false;
  }

  /** Tells watchers everywhere what happened on this node. */
  tell(fact: FeedFact): void {
    for (const watcher of this.#watchers.keys()) watcher.tell(fact);
    if (this.#others.size === 0) return;
    if (this.#facts.length < MOST_FACTS) this.#facts.push(fact);
    else this.#more += 1;
  }

  /** Takes a new socket. Who watches is found out afterwards; until then nothing is sent. */
  accept(socket: Socket, credentials: FeedCredentials): SocketListener {
    if (this.#watchers.size >= MOST_SOCKETS) {
      socket.close(feedCloseCode.tooMany, 'too many sockets on this node');
      return ignoring;
    }
    const { node, bus, now } = this.#deps;
    const watcher = new Watcher(socket, {
      node,
      now,
      isLossy: () => !bus.isConnected,
      onClosed: (closed) => this.#watchers.delete(closed),
    });
    this.#watchers.set(watcher, { credentials, loginId: null, checkedAtMs: now() });
    void this.#check(watcher);
    return watcher;
  }

  /** Sends what was gathered; to be called several times a second. */
  async tick(): Promise<void> {
    const at = this.#deps.now();
    for (const [node, { untilMs }] of this.#others) if (untilMs <= at) this.#others.delete(node);
    this.#sayWatched(at);
    if (Math.abs(at - this.#toldAtMs) >= TELL_MS) {
      this.#toldAtMs = at;
      this.#publish();
      for (const watcher of this.#watchers.keys()) watcher.flush();
    }
    const due = [...this.#watchers].filter(([, { checkedAtMs }]) => Math.abs(at - checkedAtMs) >= RECHECK_MS);
    for (const [watcher] of due) void this.#check(watcher);
    if (Math.abs(at - this.#countedAtMs) < COUNT_MS) return;
    this.#countedAtMs = at;
    await this.#count(at);
  }

  /** The node goes away: every watcher is told to connect elsewhere (1012). */
  close(): void {
    for (const stop of this.#stops) stop();
    for (const watcher of this.#watchers.keys()) watcher.close(feedCloseCode.goingAway, 'the node is going away');
  }

  async #check(watcher: Watcher): Promise<void> {
    const admitted = this.#watchers.get(watcher);
    if (admitted === undefined) return;
    admitted.checkedAtMs = this.#deps.now();
    let found: Admission | undefined;
    try {
      found = await this.#deps.admit(admitted.credentials);
    } catch (error) {
      this.#deps.onError(error);
      // Whoever was let in stays until it is known better; nobody is let in unknown.
      if (watcher.operator === undefined)
        watcher.close(feedCloseCode.overloaded, 'who watches cannot be found out now');
      return;
    }
    if (found === undefined) return watcher.close(feedCloseCode.noLogin, 'log in as an operator');
    const { operator, loginId } = found;
    if (operator.role === 'nobody') return watcher.close(feedCloseCode.noRole, 'this login has no role here');
    const isNew = watcher.operator === undefined;
    if (isNew && this.#countOf(operator.actor) >= MOST_SOCKETS_OF_ONE)
      return watcher.close(feedCloseCode.tooMany, 'too many sockets of one user');
    admitted.loginId = loginId;
    watcher.admit(operator);
  }

  #countOf(actor: string): number {
    return [...this.#watchers.keys()].filter(({ operator }) => operator?.actor === actor).length;
  }

  #hear(message: BusMessage): void {
    if (message.type === 'login.changed') {
      for (const [watcher, { loginId }] of this.#watchers) if (loginId === message.loginId) void this.#check(watcher);
    } else if (message.type === 'feed.watched' && message.node !== this.#deps.node) {
      this.#others.set(message.node, { untilMs: this.#deps.now() + BELIEVE_MS, refs: message.refs });
    } else if (message.type === 'feed.told' && message.node !== this.#deps.node) {
      for (const watcher of this.#watchers.keys()) {
        for (const fact of message.facts) watcher.tell(fact);
        if (message.more > 0) watcher.tellGap();
      }
    }
  }

  #sayWatched(at: number): void {
    const { bus, node } = this.#deps;
    if (this.#watchers.size === 0) return;
    const refs = [
      ...new Set([...this.#watchers.keys()].flatMap(({ ref }) => (ref === undefined ? [] : [ref.slice(0, 42)]))),
    ];
    const said = refs.toSorted().join();
    if (Math.abs(at - this.#saidAtMs) < SAY_MS && said === this.#saidRefs) return;
    this.#saidAtMs = at;
    this.#saidRefs = said;
    bus.publish({ type: 'feed.watched', node, refs });
  }

  #publish(): void {
    if (this.#facts.length === 0 && this.#more === 0) return;
    const { bus, node } = this.#deps;
    bus.publish({ type: 'feed.told', node, facts: this.#facts, more: this.#more });
    this.#facts = [];
    this.#more = 0;
  }

  #tellGap(): void {
    for (const watcher of this.#watchers.keys()) watcher.tellGap();
  }

  /** The counts of those who are shown the same are read once. Without a database the tick comes all the same, without them. */
  async #count(at: number): Promise<void> {
    const { bus, countsOf, onError } = this.#deps;
    const lossy = !bus.isConnected;
    // Its return is told by the bus itself.
    if (lossy && this.#wasConnected) this.#tellGap();
    this.#wasConnected = !lossy;
    const groups = new Map<string, Watcher[]>();
    for (const watcher of this.#watchers.keys()) {
      if (watcher.operator === undefined || !watcher.wants('counts')) continue;
      const name = JSON.stringify(watcher.operator.tenants);
      groups.set(name, [...(groups.get(name) ?? []), watcher]);
    }
    for (const [name, watchers] of groups) {
      const byState = await countsOf(JSON.parse(name) as '*' | string[]).catch((error: unknown) => {
        onError(error);
        return null;
      });
      const frame = { type: 'tick' as const, at: new Date(at).toISOString(), byState, lossy };
      for (const watcher of watchers) watcher.send(frame);
    }
  }
}
