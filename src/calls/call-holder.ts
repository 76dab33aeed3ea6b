import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { CallDeps } from './deps.ts';
import type { HeldCall } from './held-call.ts';

/** What the calls of a node share, with the calls that it holds. */
export interface CallHolder extends CallDeps {
  /** Makes this node hold the call from now on. @param setup undefined where it is no longer kept */
  readonly hold: (record: CallRecord, setup: SessionSetup | undefined) => HeldCall;
  /** The held call, where this node holds it. */
  readonly heldOf: (callId: string) => HeldCall | undefined;
  /** Renews this node's lease, if that is due. @throws Unavailable when the database is away */
  readonly renewLease: () => Promise<void>;
}
