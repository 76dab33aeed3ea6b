import type { Switchboard } from '../../support/switchboard.ts';
import type { PostgresService } from '../../support/services/postgres.ts';
import type { World } from '../../support/world.ts';
import type { Random } from '../faults/random.ts';
import { freeze } from '../support/freeze.ts';
import { kill } from '../support/kill-in-turn.ts';
import type { Strike } from './judge.ts';

/** How long one node is the one to be killed before it is the other's turn: in that time the other can look at all budgets, once a minute. */
const VICTIM_MS = 90_000;
/** A killed node's calls are heard again within this time. */
const TAKEN_OVER_MS = 14_000;

export interface StrikesParts {
  readonly world: World;
  readonly nodes: Switchboard[];
  /** Undefined where the only node has an embedded database: then it is killed instead. */
  readonly database: PostgresService | undefined;
  readonly random: Random;
  readonly everyMs: number;
}

/** Kills nodes, and freezes PostgreSQL, one at a time, when a budget has just reached a threshold. */
export class Strikes {
  readonly all: Strike[] = [];
  kills = 0;
  freezes = 0;
  /** Strikes that fell between an entry and the report of it. */
  met = 0;
  readonly #parts: StrikesParts;
  readonly #beganAtMs = Date.now();
  #nextAtMs = 0;

  constructor(parts: StrikesParts) {
    this.#parts = parts;
  }

  /** The node whose turn it is to be killed. */
  get victim(): number {
    return Math.floor((Date.now() - this.#beganAtMs) / VICTIM_MS) % this.#parts.nodes.length;
  }

  /** Whether the next strike is due; if so, only this caller may make it. */
  take(): boolean {
    if (Date.now() < this.#nextAtMs) return false;
    this.#nextAtMs = Infinity;
    return true;
  }

  /** Ends the turn that `take` granted; the next one is due after the usual pause. */
  release(): void {
    this.#nextAtMs = Date.now() + this.#parts.everyMs;
  }

  async kill(n: number): Promise<void> {
    const { world, nodes } = this.#parts;
    const { sentAtMs } = await kill(nodes[n]);
    this.kills += 1;
    const strike = { fromMs: sentAtMs, untilMs: Infinity };
    this.all.push(strike);
    nodes[n] = await world.startServer();
    strike.untilMs = Date.now() + TAKEN_OVER_MS;
  }

  /** Freezes PostgreSQL. @param n the node to kill where there is none */
  async freeze(n: number): Promise<void> {
    const { database, random } = this.#parts;
    if (database === undefined) return this.kill(n);
    const strike = { fromMs: Date.now(), untilMs: Infinity };
    this.all.push(strike);
    await freeze(database, random);
    this.freezes += 1;
    strike.untilMs = Date.now() + 2000;
  }
}
