import type { Clock } from '../kernel/clock.ts';
import { withTimeout, type deadline } from '../kernel/deadline.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { Metering } from '../metering/contract.ts';
import type { NodeLease } from '../node/lease.ts';
import type { LiveNodes } from '../stores/voice-calls/contract.ts';
import type { HeldCall } from './held-call.ts';

const MAX_CONCURRENT = 50;
/** A node that stops waits so long for the answers of tools that its calls have asked for. */
const TOOLS_MS = 5000;

interface HandOverDeps {
  readonly metering: Pick<Metering, 'flush'>;
  readonly clock: Clock;
  readonly lease: Pick<NodeLease, 'leaveCalls'>;
}

/**
 * Hands calls to the other nodes. A node that could not count what it heard, or not save when that ended, lets its lease lapse: who takes
 * its calls over marks a gap from its last sign of life on. @throws Unavailable
 */
export async function handOverCalls(
  held: readonly HeldCall[],
  { metering, clock, lease }: HandOverDeps,
): Promise<void> {
  const at = clock.now();
  await metering.flush();
  await settleAll(held, (call) => call.handOver(at), MAX_CONCURRENT);
  await metering.flush();
  await lease.leaveCalls();
}

interface CutOffDeps {
  readonly nodes: Pick<LiveNodes, 'hasOther'>;
  readonly clock: Clock;
  readonly lease: Pick<NodeLease, 'node'>;
}

/** What no server has answered within a few seconds its call is told to be interrupted, when it is handed over. */
export async function waitForTools(held: readonly HeldCall[], after?: typeof deadline): Promise<void> {
  await withTimeout(TOOLS_MS, Promise.all(held.map(({ pages }) => pages.toolsSettled())), after);
}

/** Whoever takes a call hears what it is saying, and what that costs; where nobody does it is told now or never. @throws Unavailable */
export async function cutOffUnlessTaken(held: readonly HeldCall[], { nodes, clock, lease }: CutOffDeps): Promise<void> {
  if (held.length === 0 || (await nodes.hasOther(lease.node, clock.now()))) return;
  await settleAll(held, (call) => call.cutOff(), held.length);
}
