import type { Switchboard } from '../../support/switchboard.ts';
import type { PostgresService } from '../../support/services/postgres.ts';
import type { World } from '../../support/world.ts';
import type { Random } from '../faults/random.ts';
import { freeze } from '../support/freeze.ts';
import { kill } from '../support/kill-in-turn.ts';
import type { Strike } from './judge.ts';

/** One node is killed for so long, and then the other: each lives for long enough to look at all budgets, which it does every minute. */
const VICTIM_MS = 90_000;
/** The calls of a killed node are heard again so long after its end. */
const TAKEN_OVER_MS = 14_000;

export interface StrikesParts {
  readonly world: World;
  readonly nodes: Switchboard[];
  readonly database: PostgresService;
  readonly random: Random;
  readonly everyMs: number;
}

/** Kills nodes and freezes PostgreSQL, one at a time, when a budget has just reached a threshold. */
export class Strikes {
  readonly all: Strike[] = [];
  kills = 0;
  freezes = 0;
  /** Those that fell between an entry and what is told of it. */
  met = 0;
  readonly #parts: StrikesParts;
  readonly #beganAtMs = Date.now();
  #nextAtMs = 0;

  constructor(parts: StrikesParts) {
    this.#parts = parts;
  }

  /** The node that is killed at present. */
  get victim(): number {
    return Math.floor((Date.now() - this.#beganAtMs) / VICTIM_MS) % this.#parts.nodes.length;
  }

  /** Whether it is time for the next one; then nobody else gets it. */
  take(): boolean {
    if (Date.now() < this.#nextAtMs) return false;
    this.#nextAtMs = Infinity;
    return true;
  }

  /** Gives back what was taken, and not used. */
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

  async freeze(): Promise<void> {
    const { database, random } = this.#parts;
    const strike = { fromMs: Date.now(), untilMs: Infinity };
    this.all.push(strike);
    await freeze(database, random);
    this.freezes += 1;
    strike.untilMs = Date.now() + 2000;
  }
}
