import { setTimeout as delay } from 'node:timers/promises';
import type { Switchboard } from '../../support/switchboard.ts';
import type { World } from '../../support/world.ts';

/** One kill of a node. */
export interface Kill {
  readonly sentAtMs: number;
  /** When the process was gone. */
  readonly goneAtMs: number;
}

/** Kills a node without warning. */
export async function kill(node: Switchboard | undefined): Promise<Kill> {
  const sentAtMs = Date.now();
  await node?.end('SIGKILL');
  return { sentAtMs, goneAtMs: Date.now() };
}

const LOOK_MS = 100;

/** Kills the nodes in turn without warning and starts another in place of each. @param nodes the nodes that run at the moment */
export async function killInTurn(
  world: World,
  nodes: Switchboard[],
  { isOver, killEveryMs }: { readonly isOver: () => boolean; readonly killEveryMs: number },
): Promise<Kill[]> {
  const kills: Kill[] = [];
  for (let nextMs = Date.now(); !isOver(); await delay(LOOK_MS)) {
    if (Date.now() < nextMs) continue;
    nextMs = Date.now() + killEveryMs;
    const n = kills.length % nodes.length;
    kills.push(await kill(nodes[n]));
    nodes[n] = await world.startServer();
  }
  return kills;
}

/** Is over after this time. */
export function overAfter(ms: number): () => boolean {
  const endMs = Date.now() + ms;
  return () => Date.now() >= endMs;
}
