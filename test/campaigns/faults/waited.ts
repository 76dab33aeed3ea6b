import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterNode } from '../../support/cluster.ts';

const POLL_MS = 500;
const PATIENCE_MS = 1000;
const VALUE = /^switchboard_heartbeats_saved_later (\d+)/m;

/** Counts, from the metrics of all nodes, the heartbeats that were answered before they were saved. A node that is killed takes its last ones along. */
export class Waited {
  /** Heartbeats so far. */
  count = 0;
  readonly #nodes: readonly ClusterNode[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #last = new Map<ClusterNode, number>();
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  /** @param token a service token */
  constructor(nodes: readonly ClusterNode[], token: string) {
    this.#nodes = nodes;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (; !this.#isStopped; await delay(POLL_MS)) await Promise.all(this.#nodes.map((node) => this.#poll(node)));
  }

  async #poll(node: ClusterNode): Promise<void> {
    const text = await fetch(`${node.origin}/metrics`, {
      headers: this.#headers,
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).then(
      (reply) => reply.text(),
      // The node is away.
      () => '',
    );
    const found = VALUE.exec(text)?.[1];
    if (found === undefined) return;
    const [now, before] = [Number(found), this.#last.get(node) ?? 0];
    // A node that was started again counts from zero.
    this.count += now < before ? now : now - before;
    this.#last.set(node, now);
  }
}
