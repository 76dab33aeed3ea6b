import type { FeedFact } from '../../protocol/operator/feed.ts';
import type { UsageTotals } from '../ledger/contract.ts';
import type { OperatorNode } from '../../protocol/operator/node.ts';
import type { EndReason, VoiceState } from '../../../machines/voice-session/types.ts';

/** What nodes tell each other. What a lost message said is found out by the caches' own expiry, or by a look at the stores after a gap. */
export type BusMessage =
  | { readonly type: 'tenants.changed' }
  | { readonly type: 'login.changed'; readonly loginId: string }
  /** Operators watch the feed on a node, there these topics (by default all) and the events of these sessions. */
  | {
      readonly type: 'feed.watched';
      readonly node: string;
      readonly refs: readonly string[];
      readonly topics?: readonly string[];
    }
  /** What happened on a node, told while somebody watches; `more` was left out. */
  | { readonly type: 'feed.told'; readonly node: string; readonly facts: readonly FeedFact[]; readonly more: number }
  | {
      readonly type: 'session.moved';
      readonly sessionId: string;
      readonly state: VoiceState;
      readonly endReason: EndReason | null;
    }
  /** A node is here: each says so every few seconds, and leaves when it stops. */
  | {
      readonly type: 'node.here';
      readonly node: OperatorNode;
      /** A keyed hash of each of its settings, by the name of the variable. */
      readonly settings?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly type: 'node.gone'; readonly id: string }
  /** A node stopped: the calls that it held are to be taken over. */
  | { readonly type: 'calls.orphaned' }
  /** What clients hear of a session's call. */
  | {
      readonly type: 'call.told';
      readonly sessionId: string;
      readonly callId: string;
      readonly event: 'ready' | 'speaking' | 'listening' | 'over';
    }
  /** What is left for a session's call ends at about that time: its clients are to be told. */
  | { readonly type: 'quota.ending'; readonly sessionId: string; readonly endsAtMs: number }
  /** A usage entry carried its subject's totals to `after`, over a share of some ceiling that clients are warned at. */
  | {
      readonly type: 'quota.neared';
      readonly subject: string;
      readonly after: UsageTotals;
      readonly entry: UsageTotals;
    };

/** How nodes tell each other what changed. A message may be lost: what must hold is in the stores. */
export interface Bus {
  /** Tells every node, this one included. It never throws: the bus is a hint, the store is the truth. */
  publish(message: BusMessage): void;
  /** @returns the way to stop listening. `isOwn`: this node published the message. */
  subscribe(listener: (message: BusMessage, isOwn: boolean) => void): () => void;
  /**
   * The listener is told each time that messages of other nodes may have been missed, when it is over: this node gets them again,
   * or another one can speak again. @returns the way to stop listening.
   */
  onGap(listener: () => void): () => void;
  /** False while this node is known to be cut off from the others. */
  readonly isConnected: boolean;
}
