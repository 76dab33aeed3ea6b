import { withTimeout, settleAll } from '../kernel/async.ts';
import type { CallDeps } from './deps.ts';
import type { HeldCall } from './held-call.ts';

const MAX_CONCURRENT = 50;
/** How long a stopping node waits for what its calls still do: tools that they have asked for, and goodbyes. */
const FINISH_MS = 5000;

/**
 * Hands calls to the other nodes. A node that could not count what it heard, or could not save when it stopped hearing, lets its lease lapse: the
 * node that takes its calls then marks a gap from this node's last sign of life on.
 * @throws Unavailable
 */
export async function handOverCalls(held: readonly HeldCall[], { metering, clock, lease }: CallDeps): Promise<void> {
  const at = clock.now();
  await metering.flush();
  await settleAll(held, (call) => call.handOver(at), MAX_CONCURRENT);
  await metering.flush();
  await lease.leaveCalls();
}

/** Whether another node will take the calls. @throws Unavailable */
async function areTaken(held: readonly HeldCall[], { nodes, clock, lease }: CallDeps): Promise<boolean> {
  return held.length === 0 || (await nodes.hasOther(lease.node, clock.now()));
}

/**
 * Waits a few seconds for running tools, and for goodbyes where no other node will take the calls: without one, nobody hears them from now on. What
 * is not answered by then is answered `interrupted` when the call is handed over.
 */
export async function finishCalls(held: readonly HeldCall[], deps: CallDeps): Promise<void> {
  const tools = held.map(({ pages }) => pages.toolsSettled());
  const goodbyes = sayGoodbyeUnlessTaken(held, deps).catch(deps.onError);
  await withTimeout(FINISH_MS, Promise.all([...tools, goodbyes]), deps.after);
}

/** @throws Unavailable */
async function sayGoodbyeUnlessTaken(held: readonly HeldCall[], deps: CallDeps): Promise<void> {
  if (await areTaken(held, deps)) return;
  const saying = held.filter(({ conversation }) => conversation.wrapUp('stopping'));
  await Promise.all(saying.map((call) => call.saidAll()));
}

/**
 * Cuts off what calls are saying, unless another node will take them: that node hears the speech and its cost; without one, nobody would count it.
 * @throws Unavailable
 */
export async function cutOffUnlessTaken(held: readonly HeldCall[], deps: CallDeps): Promise<void> {
  if (await areTaken(held, deps)) return;
  await settleAll(held, (call) => call.cutOff(), held.length);
}
