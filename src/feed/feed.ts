import { mayDo, type Operator } from '../operators/roles.ts';
import { ignoring, type Socket, type SocketListener } from '../kernel/socket.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import type { BusMessage } from '../protocol/bus.ts';
import { feedCloseCode, type FeedFact, type FeedTopic } from '../protocol/operator/feed.ts';
import type { OperatorNode } from '../protocol/operator/node.ts';
import type { NodeList } from '../node/nodes.ts';
import type { Presence } from '../node/presence.ts';
import type { Bus } from '../stores/bus/contract.ts';
import { FeedPeers, RefusalFacts } from './facts.ts';
import { groupOf, tickOf, type TickFigures } from './ticks.ts';
import { Watcher } from './watcher.ts';

interface NodeChange {
  readonly node: OperatorNode;
  readonly gone: boolean;
}

/** Which nodes have changed since the last look: those that reported since, and those that are no longer listed. */
class NodeChanges {
  #seen = new Map<string, OperatorNode>();

  look(nodes: readonly OperatorNode[]): readonly NodeChange[] {
    const before = this.#seen;
    this.#seen = new Map(nodes.map((node) => [node.id, node]));
    const heard = nodes.filter(({ id, seenAt }) => before.get(id)?.seenAt !== seenAt);
    const gone = [...before.values()].filter(({ id }) => !this.#seen.has(id));
    return [...heard.map((node) => ({ node, gone: false })), ...gone.map((node) => ({ node, gone: true }))];
  }

  /** Called when nobody watches nodes any more. */
  forget(): void {
    this.#seen.clear();
  }
}

/** How often collected facts are sent, and how often figures and nodes are. */
const TELL_MS = 250;
const COUNT_MS = 2000;
/** How often a watcher's login and role are checked again. */
const RECHECK_MS = MINUTE_MS;
/** When to check again after a check that failed. */
const RETRY_MS = 2000;
const MAX_SOCKETS = 50;
const MAX_SOCKETS_OF_ONE = 5;
/** For the admins of all tenants together, so that operators can always watch, whatever customers do. */
const MAX_SOCKETS_OF_TENANTS = MAX_SOCKETS / 2;

/** The credentials of an upgrade, which identify the watcher. */
export interface FeedCredentials {
  /** The name of the service token, if there is one. */
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
  /** Identifies a watcher; undefined without a login. @throws Unavailable (rejects) when that is not possible now */
  readonly admit: (credentials: FeedCredentials) => Promise<Admission | undefined>;
  readonly presence: Pick<Presence, 'watch'>;
  readonly nodes: Pick<NodeList, 'list' | 'isWatchedElsewhere'>;
  readonly figures: TickFigures;
  /** Receives faults that cannot be reported to a watcher. */
  readonly onError: (error: unknown) => void;
}

interface AdmittedWatcher {
  readonly credentials: FeedCredentials;
  loginId: string | null;
  checkedAtMs: number;
}

/**
 * The operators' feed of this node (docs/contract.md, section 8.1): tells its watchers what happens on every node. Nodes only tell one
 * another while somebody watches somewhere.
 */
export class Feed {
  /** Collects the refusals of this node, while anybody watches refusals. */
  readonly refusals = new RefusalFacts(() => this.isWanted('refusals'));
  readonly #deps: FeedDeps;
  readonly #watchers = new Map<Watcher, AdmittedWatcher>();
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
    this.#stops = [
      deps.bus.subscribe({ 'feed.told': (message) => this.#hear(message) }),
      deps.bus.onGap(() => this.#tellGap()),
    ];
  }

  /** How many sockets are open here. */
  get size(): number {
    return this.#watchers.size;
  }

  /** Whether anybody watches, here or on another node; otherwise nothing needs to be told. */
  get isWatched(): boolean {
    return this.#watchers.size > 0 || this.#deps.nodes.isWatchedElsewhere(() => true);
  }

  /** Whether anybody watches a topic, here or on another node. */
  isWanted(topic: FeedTopic): boolean {
    return (
      this.#isWantedHere(topic) || this.#deps.nodes.isWatchedElsewhere(({ topics }) => topics?.includes(topic) ?? true)
    );
  }

  /** Whether anybody follows the events of the session, here or on another node. */
  isFollowed(ref: string): boolean {
    for (const watcher of this.#watchers.keys()) if (watcher.ref?.startsWith(ref) === true) return true;
    return this.#deps.nodes.isWatchedElsewhere(({ refs }) => refs.includes(ref));
  }

  /** Tells watchers everywhere what happened on this node. */
  tell(fact: FeedFact): void {
    for (const watcher of this.#watchers.keys()) watcher.tell(fact);
    if (this.#deps.nodes.isWatchedElsewhere(() => true)) this.#peers.tell(fact);
  }

  /** Accepts a new socket. The watcher is identified afterwards; until then nothing is sent. */
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
      // At once, not with the next tick: what other nodes do before they learn of the watcher is not told here. They learn of it within
      // moments. A watcher reads its lists once more some seconds after `hello`, or after it asked for more, and by then the database
      // has what happened in those moments (see src/web/console/data/live.ts).
      onWatch: () => this.#sayWatched(),
      onClosed: (closed) => this.#watchers.delete(closed),
    });
    this.#watchers.set(watcher, { credentials, loginId: null, checkedAtMs: now() });
    void this.#check(watcher);
    return watcher;
  }

  /** Sends what was collected. Call it several times a second. */
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
   * Sends the figures, read once for all watchers that see the same. Call it at least every second, separately from `tick`, which must not
   * wait for a database. Never rejects.
   */
  async count(): Promise<void> {
    const { bus, now, figures, onError } = this.#deps;
    const at = now();
    if (Math.abs(at - this.#countedAtMs) < COUNT_MS) return;
    this.#countedAtMs = at;
    const lossy = !bus.isConnected;
    // The bus itself reports its return.
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

  /** Checks again the watchers whose login ended, or all where any may have ended. Call it once the new answer is available. */
  recheck(loginId: string | undefined): void {
    for (const [watcher, admitted] of this.#watchers)
      // A first check that is still under way may return the old answer.
      if (loginId === undefined || watcher.operator === undefined || admitted.loginId === loginId)
        void this.#check(watcher);
  }

  /** The node is going away: tells every watcher to connect elsewhere (1012). */
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
      // A watcher that was admitted stays, and is checked again soon; one that was not identified is never admitted.
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

  /** How many identified watchers match. */
  #count(isMeant: (operator: Operator) => boolean): number {
    return [...this.#watchers.keys()].filter(({ operator }) => operator !== undefined && isMeant(operator)).length;
  }

  #hear({ node, facts, more }: Extract<BusMessage, { type: 'feed.told' }>): void {
    if (node === this.#deps.node) return;
    for (const watcher of this.#watchers.keys()) {
      for (const fact of facts) watcher.tell(fact);
      if (more > 0) watcher.tellGap();
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

  /** The nodes are known in memory, even while the database or the bus is away. */
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
