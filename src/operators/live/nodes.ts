import type { Clock } from '../../kernel/clock.ts';
import type { OperatorNode } from '../../protocol/operator/node.ts';
import type { SettingHashes } from './config-hash.ts';

/** A process that has said nothing for so long is not listed. */
const VALID_MS = 15_000;

interface Heard {
  readonly node: OperatorNode;
  readonly settings: SettingHashes | undefined;
  readonly atMs: number;
}

const UNSET = '';

/** The processes that said lately that they are here: kept in memory, so that it is known in outages. */
export class NodeList {
  readonly #clock: Clock;
  /** By their ids, with when this process heard of them: clocks may differ. */
  readonly #heard = new Map<string, Heard>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param settings a build that does not tell them has none */
  hear(node: OperatorNode, settings?: SettingHashes): void {
    this.#heard.set(node.id, { node, settings, atMs: this.#clock.now() });
  }

  forget(id: string): void {
    this.#heard.delete(id);
  }

  /** In the order in which they started. */
  list(): OperatorNode[] {
    return this.#present()
      .map(({ node }) => node)
      .sort(byStart);
  }

  /** The variables that not all of them have the same value of. */
  differing(): string[] {
    const all = this.#present().flatMap(({ settings }) => (settings === undefined ? [] : [settings]));
    const names = new Set(all.flatMap((settings) => Object.keys(settings)));
    const isMixed = (name: string): boolean => new Set(all.map((settings) => settings[name] ?? UNSET)).size > 1;
    return [...names].filter(isMixed).sort();
  }

  #present(): Heard[] {
    const oldest = this.#clock.now() - VALID_MS;
    for (const [id, { atMs }] of this.#heard) if (atMs < oldest) this.#heard.delete(id);
    return [...this.#heard.values()];
  }
}

function byStart(one: OperatorNode, other: OperatorNode): number {
  return `${one.startedAt} ${one.id}` < `${other.startedAt} ${other.id}` ? -1 : 1;
}
