import type { Clock } from '../kernel/clock.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Share } from '../stores/voice-registry/contract.ts';
import type { NodeList } from './nodes.ts';

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
