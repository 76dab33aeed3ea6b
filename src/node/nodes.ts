import type { Clock } from '../kernel/time.ts';
import type { OperatorNode } from '../protocol/operator/node.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { LiveNode } from '../stores/nodes/contract.ts';
import type { Share } from '../stores/voice-registry/contract.ts';

/** How long after its last message a node counts as alive, and what it said is valid. */
const VALID_MS = 15_000;

/** A keyed hash of each setting of a node, by the variable's name. */
export type NodeSettings = Readonly<Record<string, string>>;

/** What operators watch through a node. */
export interface TopicWatch {
  /** Sessions whose events are wanted. */
  readonly refs: readonly string[];
  /** Undefined if the node is older and does not tell: then it may be any. */
  readonly topics?: readonly string[] | undefined;
}

/** What is known about one node. `heardAtMs` and `watchedAtMs` are by this node's clock. */
interface KnownNode {
  /** What the node says of itself; undefined until it has. */
  readonly node?: OperatorNode;
  /** Undefined for a build that does not send them. */
  readonly settings?: NodeSettings | undefined;
  readonly heardAtMs: number;
  /** When its lease in the database ends, as its owner wrote it. */
  readonly leasedUntilMs: number;
  readonly watched?: TopicWatch;
  readonly watchedAtMs: number;
}

const UNSET = '';
const NEVER: KnownNode = { heardAtMs: -Infinity, leasedUntilMs: -Infinity, watchedAtMs: -Infinity };

export interface NodeListDeps {
  /** The id of this node. */
  readonly node: string;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly clock: Clock;
}

/**
 * All nodes of the installation, and which of them this node believes to be alive: those that were heard lately, or whose lease in the database runs.
 * Kept in memory, so that it is known in outages. Code that takes over calls or places of sockets asks the leases in their store instead.
 */
export class NodeList {
  readonly #deps: NodeListDeps;
  readonly #known = new Map<string, KnownNode>();
  readonly #stopListening: () => void;

  constructor(deps: NodeListDeps) {
    this.#deps = deps;
    this.#stopListening = deps.bus.subscribe({
      'node.here': ({ node, settings }) => this.hear(node, settings),
      'feed.watched': (message) => this.#hearWatched(message.node, message),
      'node.gone': ({ id }) => this.#known.delete(id),
    });
  }

  /** Takes in what a node says of itself. */
  hear(node: OperatorNode, settings?: NodeSettings): void {
    this.#forgetDead();
    this.#change(node.id, { node, settings, heardAtMs: this.#deps.clock.now() });
  }

  /** Takes in which nodes have a lease in the database. */
  noteLeases(leases: readonly LiveNode[]): void {
    for (const { node, untilMs } of leases) this.#change(node, { leasedUntilMs: untilMs });
  }

  /** The nodes that are alive, in the order in which they started. */
  list(): OperatorNode[] {
    this.#forgetDead();
    return [...this.#known.values()].flatMap(({ node }) => (node === undefined ? [] : [node])).sort(byStart);
  }

  /** The variables that do not have the same value on all of them. */
  differing(): string[] {
    this.#forgetDead();
    const all = [...this.#known.values()].flatMap(({ settings }) => (settings === undefined ? [] : [settings]));
    const names = new Set(all.flatMap((settings) => Object.keys(settings)));
    const isMixed = (name: string): boolean => new Set(all.map((settings) => settings[name] ?? UNSET)).size > 1;
    return [...names].filter(isMixed).sort();
  }

  /** Whether operators watch something on another node that `isWanted` accepts. */
  isWatchedElsewhere(isWanted: (watched: TopicWatch) => boolean): boolean {
    for (const { watched, watchedAtMs } of this.#known.values())
      if (watched !== undefined && watchedAtMs >= this.#deps.clock.now() - VALID_MS && isWanted(watched)) return true;
    return false;
  }

  stop(): void {
    this.#stopListening();
  }

  #hearWatched(id: string, { refs, topics }: TopicWatch): void {
    if (id === this.#deps.node) return;
    const at = this.#deps.clock.now();
    this.#change(id, { watched: { refs, topics }, watchedAtMs: at, heardAtMs: at });
  }

  #change(id: string, change: Partial<KnownNode>): void {
    this.#known.set(id, { ...(this.#known.get(id) ?? NEVER), ...change });
  }

  #forgetDead(): void {
    const now = this.#deps.clock.now();
    for (const [id, { heardAtMs, leasedUntilMs }] of this.#known)
      if (heardAtMs < now - VALID_MS && leasedUntilMs <= now) this.#known.delete(id);
  }
}

function byStart(one: OperatorNode, other: OperatorNode): number {
  return `${one.startedAt} ${one.id}` < `${other.startedAt} ${other.id}` ? -1 : 1;
}

/** How many nodes sweep each part all the time: one of them may die. */
const STEADY = 2;
/** How often the node that looks at a part beside them changes. */
const ROUND_MS = 500;

export interface SweepShareDeps {
  /** The id of this node. */
  readonly node: string;
  readonly nodes: Pick<NodeList, 'list'>;
  readonly bus: Pick<Bus, 'isConnected'>;
  readonly clock: Clock;
}

/**
 * Which parts of the live stores this node sweeps. Each part has two nodes, by rendezvous hashing over those that are alive, so that a node that
 * comes or goes moves no parts between others; and a third one that changes every half second, so that every node looks at every part in turn. Even
 * if lists differ, the living node that ranks highest for a part counts itself among its two sweepers, unless its list still ranks two dead nodes
 * above it.
 */
export class SweepShare {
  readonly #deps: SweepShareDeps;
  #names = '';
  #steady = new Map<number, boolean>();

  constructor(deps: SweepShareDeps) {
    this.#deps = deps;
  }

  /** The share at this moment; undefined means all parts, while this node does not hear who is alive. */
  present(): Share | undefined {
    const { node, nodes, bus, clock } = this.#deps;
    const ids = nodes
      .list()
      .map(({ id }) => id)
      .sort();
    if (!bus.isConnected || !ids.includes(node)) return undefined;
    const names = ids.join(' ');
    if (names !== this.#names) this.#steady = new Map();
    this.#names = names;
    const round = Math.floor(clock.now() / ROUND_MS);
    return (part) => ids[(part + round) % ids.length] === node || this.#isSteady(part, ids);
  }

  #isSteady(part: number, ids: readonly string[]): boolean {
    const known = this.#steady.get(part);
    if (known !== undefined) return known;
    const ranked = ids.map((id) => ({ id, rank: rankOf(id, part) })).sort((a, b) => b.rank - a.rank);
    const isMine = ranked.slice(0, STEADY).some(({ id }) => id === this.#deps.node);
    this.#steady.set(part, isMine);
    return isMine;
  }
}

/** FNV-1a of both, mixed so that neighbouring parts are unrelated. */
function rankOf(id: string, part: number): number {
  let hash = 0x811c9dc5 ^ part;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
