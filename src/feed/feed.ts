import { mayDo, type Operator } from '../operators/roles.ts';
import type { Socket, SocketListener } from '../kernel/socket.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import type { BusMessage } from '../protocol/bus.ts';
import { feedCloseCode, type FeedFact, type FeedTopic } from '../protocol/operator/feed.ts';
import type { OperatorNode } from '../protocol/operator/node.ts';
import type { NodeList } from '../node/nodes.ts';
import type { Presence } from '../node/presence.ts';
import type { Bus } from '../stores/bus/contract.ts';
import { FeedPeers } from './feed-peers.ts';
import { RefusalFacts } from './refusal-facts.ts';
import { groupOf, tickOf, type TickFigures } from './ticks.ts';
import { Watcher } from './watcher.ts';

interface NodeChange {
  readonly node: OperatorNode;
  readonly gone: boolean;
}

/** What became of the nodes since the last look: those that told of themselves since, and those that are not listed any more. */
class NodeChanges {
  #seen = new Map<string, OperatorNode>();

  look(nodes: readonly OperatorNode[]): readonly NodeChange[] {
    const before = this.#seen;
    this.#seen = new Map(nodes.map((node) => [node.id, node]));
    const heard = nodes.filter(({ id, seenAt }) => before.get(id)?.seenAt !== seenAt);
    const gone = [...before.values()].filter(({ id }) => !this.#seen.has(id));
    return [...heard.map((node) => ({ node, gone: false })), ...gone.map((node) => ({ node, gone: true }))];
  }

  /** Nobody looks any more. */
  forget(): void {
    this.#seen.clear();
  }
}

/** How often what happened is told, and how often the figures and the nodes are. */
const TELL_MS = 250;
const COUNT_MS = 2000;
/** How often it is asked anew who watches. */
const RECHECK_MS = MINUTE_MS;
/** The same where that could not be found out. */
const RETRY_MS = 2000;
const MAX_SOCKETS = 50;
const MAX_SOCKETS_OF_ONE = 5;
/** Of the admins of all tenants together: operators can always watch, whatever customers do. */
const MAX_SOCKETS_OF_TENANTS = MAX_SOCKETS / 2;

/** What an upgrade brought along to tell who watches. */
export interface FeedCredentials {
  /** The name of a service token. */
  readonly service: string | null;
  /** The token of the console cookie. */
  readonly token: string | null;
}

interface Admission {
  readonly operator: Operator;
  /** Null for a service token. */
  readonly loginId: string | null;
}

export interface FeedDeps {
  readonly node: string;
  readonly bus: Bus;
  readonly now: () => number;
  /** Who watches; undefined without a login. @throws Unavailable (rejects) when that cannot be found out */
  readonly admit: (credentials: FeedCredentials) => Promise<Admission | undefined>;
  readonly presence: Pick<Presence, 'watch'>;
  readonly nodes: Pick<NodeList, 'list' | 'isWatchedElsewhere'>;
  readonly figures: TickFigures;
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
  /** Gathers what is refused here, while anybody watches refusals. */
  readonly refusals = new RefusalFacts(() => this.isWanted('refusals'));
  readonly #deps: FeedDeps;
  readonly #watchers = new Map<Watcher, Admitted>();
  readonly #peers: FeedPeers;
  readonly #nodes = new NodeChanges();
  readonly #stops: readonly (() => void)[];
  #toldAtMs = -Infinity;
  #lookedAtMs = -Infinity;
  #countedAtMs = -Infinity;
  #wasConnected = true;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
    this.#peers = new FeedPeers(deps);
    this.#stops = [deps.bus.subscribe((message) => this.#hear(message)), deps.bus.onGap(() => this.#tellGap())];
  }

  /** How many sockets are open here. */
  get size(): number {
    return this.#watchers.size;
  }

  /** Whether anybody watches, here or elsewhere: while nobody does, nothing need be told. */
  get isWatched(): boolean {
    return this.#watchers.size > 0 || this.#deps.nodes.isWatchedElsewhere(() => true);
  }

  /** Whether anybody watches a topic, here or elsewhere. */
  isWanted(topic: FeedTopic): boolean {
    return (
      this.#isWantedHere(topic) || this.#deps.nodes.isWatchedElsewhere(({ topics }) => topics?.includes(topic) ?? true)
    );
  }

  /** Whether anybody wants the events of the session. */
  isFollowed(ref: string): boolean {
    for (const watcher of this.#watchers.keys()) if (watcher.ref?.startsWith(ref) === true) return true;
    return this.#deps.nodes.isWatchedElsewhere(({ refs }) => refs.includes(ref));
  }

  /** Tells watchers everywhere what happened on this node. */
  tell(fact: FeedFact): void {
    for (const watcher of this.#watchers.keys()) watcher.tell(fact);
    if (this.#deps.nodes.isWatchedElsewhere(() => true)) this.#peers.tell(fact);
  }

  /** Takes a new socket. Who watches is found out afterwards; until then nothing is sent. */
  accept(socket: Socket, credentials: FeedCredentials): SocketListener {
    if (this.#watchers.size >= MAX_SOCKETS) {
      socket.close(feedCloseCode.tooMany, 'too many sockets on this node');
      return ignoring;
    }
    const { node, bus, now } = this.#deps;
    const watcher = new Watcher(socket, {
      node,
      now,
      isLossy: () => !bus.isConnected,
      // At once, and not with the next tick: what other nodes do before they hear it is told to nobody here. They hear it within
      // moments; whoever watches reads its lists once more some seconds after `hello`, or after it asked for more, and by then what
      // happened in those moments is in the database (see src/web/console/data/live.ts).
      onWatch: () => this.#sayWatched(),
      onClosed: (closed) => this.#watchers.delete(closed),
    });
    this.#watchers.set(watcher, { credentials, loginId: null, checkedAtMs: now() });
    void this.#check(watcher);
    return watcher;
  }

  /** Sends what was gathered; to be called several times a second. */
  tick(): void {
    const at = this.#deps.now();
    this.#sayWatched();
    if (Math.abs(at - this.#toldAtMs) >= TELL_MS) {
      this.#toldAtMs = at;
      const refused = this.refusals.take();
      if (refused !== undefined) this.tell(refused);
      this.#peers.publish();
      for (const watcher of this.#watchers.keys()) watcher.flush();
    }
    if (Math.abs(at - this.#lookedAtMs) >= COUNT_MS) {
      this.#lookedAtMs = at;
      this.#tellNodes();
    }
    const due = [...this.#watchers].filter(([, { checkedAtMs }]) => Math.abs(at - checkedAtMs) >= RECHECK_MS);
    for (const [watcher] of due) void this.#check(watcher);
  }

  /**
   * Tells the figures, read once for all who are shown the same; to be called beside `tick`, which waits for no database, at least every
   * second. Never rejects.
   */
  async count(): Promise<void> {
    const { bus, now, figures, onError } = this.#deps;
    const at = now();
    if (Math.abs(at - this.#countedAtMs) < COUNT_MS) return;
    this.#countedAtMs = at;
    const lossy = !bus.isConnected;
    // Its return is told by the bus itself.
    if (lossy && this.#wasConnected) this.#tellGap();
    this.#wasConnected = !lossy;
    const groups = new Map<string, { readonly operator: Operator; readonly watchers: Watcher[] }>();
    for (const watcher of this.#watchers.keys()) {
      const { operator } = watcher;
      if (operator === undefined || !watcher.wants('counts')) continue;
      const group = groups.get(groupOf(operator)) ?? { operator, watchers: [] };
      group.watchers.push(watcher);
      groups.set(groupOf(operator), group);
    }
    for (const { operator, watchers } of groups.values()) {
      const frame = await tickOf(operator, at, lossy, figures, onError);
      for (const watcher of watchers) watcher.send(frame);
    }
  }

  /** Asks anew who watches by a login that ended, or by any where any may have; to be called once the new answer is to be had. */
  recheck(loginId: string | undefined): void {
    for (const [watcher, admitted] of this.#watchers)
      // A first answer that is still under way may be the old one.
      if (loginId === undefined || watcher.operator === undefined || admitted.loginId === loginId)
        void this.#check(watcher);
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
      // Whoever was let in stays until it is known better, and is asked for again soon; nobody is let in unknown.
      admitted.checkedAtMs -= RECHECK_MS - RETRY_MS;
      if (watcher.operator === undefined)
        watcher.close(feedCloseCode.overloaded, 'who watches cannot be found out now');
      return;
    }
    if (found === undefined) return watcher.close(feedCloseCode.noLogin, 'log in as an operator');
    const { operator, loginId } = found;
    if (operator.role === 'nobody') return watcher.close(feedCloseCode.noRole, 'this login has no role here');
    const isNew = watcher.operator === undefined;
    if (isNew && this.#count(({ actor }) => actor === operator.actor) >= MAX_SOCKETS_OF_ONE)
      return watcher.close(feedCloseCode.tooMany, 'too many sockets of one user');
    const ofTenants = isNew && operator.role === 'tenant_admin';
    if (ofTenants && this.#count(({ role }) => role === 'tenant_admin') >= MAX_SOCKETS_OF_TENANTS)
      return watcher.close(feedCloseCode.tooMany, 'too many sockets of admins of tenants on this node');
    admitted.loginId = loginId;
    watcher.admit(operator);
  }

  /** How many watch of whom it is true. */
  #count(isMeant: (operator: Operator) => boolean): number {
    return [...this.#watchers.keys()].filter(({ operator }) => operator !== undefined && isMeant(operator)).length;
  }

  #hear(message: BusMessage): void {
    if (message.type !== 'feed.told' || message.node === this.#deps.node) return;
    for (const watcher of this.#watchers.keys()) {
      for (const fact of message.facts) watcher.tell(fact);
      if (message.more > 0) watcher.tellGap();
    }
  }

  #isWantedHere(topic: FeedTopic): boolean {
    for (const watcher of this.#watchers.keys())
      if (watcher.operator !== undefined && watcher.wants(topic)) return true;
    return false;
  }

  #sayWatched(): void {
    const admitted = [...this.#watchers.keys()].filter(({ operator }) => operator !== undefined);
    if (admitted.length === 0) return this.#deps.presence.watch(undefined);
    const refs = new Set(admitted.flatMap(({ ref }) => (ref === undefined ? [] : [ref.slice(0, 42)])));
    const topics = new Set(admitted.flatMap((watcher) => [...watcher.topics]));
    this.#deps.presence.watch({ refs: [...refs].sort(), topics: [...topics].sort() });
  }

  /** The nodes are known in memory, also while the database or the bus is away. */
  #tellNodes(): void {
    if (!this.#isWantedHere('nodes')) return this.#nodes.forget();
    for (const { node, gone } of this.#nodes.look(this.#deps.nodes.list()))
      for (const watcher of this.#watchers.keys())
        if (
          watcher.wants('nodes') &&
          watcher.operator !== undefined &&
          mayDo(watcher.operator.role, 'see-installation')
        )
          watcher.send({ type: 'node', node, gone });
  }

  #tellGap(): void {
    for (const watcher of this.#watchers.keys()) watcher.tellGap();
  }
}
