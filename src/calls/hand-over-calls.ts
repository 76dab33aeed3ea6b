import { withTimeout } from '../kernel/deadline.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { CallParts } from './call-parts.ts';
import type { HeldCall } from './held-call.ts';

const MAX_CONCURRENT = 50;
/** How long a stopping node waits for the answers of tools that its calls have asked for. */
const TOOLS_MS = 5000;

/**
 * Hands calls to the other nodes. A node that could not count what it heard, or could not save when it stopped hearing, lets its lease lapse: the
 * node that takes its calls then marks a gap from this node's last sign of life on.
 * @throws Unavailable
 */
export async function handOverCalls(held: readonly HeldCall[], { metering, clock, lease }: CallParts): Promise<void> {
  const at = clock.now();
  await metering.flush();
  await settleAll(held, (call) => call.handOver(at), MAX_CONCURRENT);
  await metering.flush();
  await lease.leaveCalls();
}

/** Waits a few seconds for running tools. What is not answered by then is answered `interrupted` when the call is handed over. */
export async function waitForTools(held: readonly HeldCall[], { after }: CallParts): Promise<void> {
  await withTimeout(TOOLS_MS, Promise.all(held.map(({ pages }) => pages.toolsSettled())), after);
}

/**
 * Cuts off what calls are saying, unless another node will take them: that node hears the speech and its cost; without one, nobody would count it.
 * @throws Unavailable
 */
export async function cutOffUnlessTaken(held: readonly HeldCall[], { nodes, clock, lease }: CallParts): Promise<void> {
  if (held.length === 0 || (await nodes.hasOther(lease.node, clock.now()))) return;
  await settleAll(held, (call) => call.cutOff(), held.length);
}
