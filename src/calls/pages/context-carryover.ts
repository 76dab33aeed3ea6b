import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { CallFrame } from '../../protocol/call-frames.ts';
import type { HeldCallDeps } from '../deps.ts';
import type { Conversation } from '../conversation.ts';
import { itemIdOf } from '../item-id.ts';
import { RecentTurns } from './recent-turns.ts';

type CarryoverDeps = Pick<HeldCallDeps, 'recaps' | 'running'>;

interface CarryoverCall {
  readonly record: CallRecord;
  readonly conversation: Pick<Conversation, 'add'>;
}

/** Reasons for closing a call after which another call of its session may follow. */
const MAY_BE_FOLLOWED: ReadonlySet<CallRecord['closeReason']> = new Set(['replaced', 'remote', 'lost']);

/** What was said in the session of one held call: its agent is told this when the call opens, and it is kept for the next call. */
export class ContextCarryover {
  readonly #call: CarryoverCall;
  readonly #deps: CarryoverDeps;
  readonly #turns = new RecentTurns();
  /** Whether pages were shown words that are not kept yet, and whether they are worth keeping before the call closes. */
  #isSaidMore = false;
  #isDue = false;
  /** The call is closing or over, and another may follow. */
  #hasLeft = false;
  /** What the agent is still to be told. */
  #seed: string | undefined;

  constructor(call: CarryoverCall, deps: CarryoverDeps) {
    this.#call = call;
    this.#deps = deps;
  }

  /** Loads what pages were shown of the session before this node held its call, if it is still kept. */
  async remember(): Promise<void> {
    const recap = await this.#deps.recaps.find(this.#call.record.sessionId);
    if (recap !== undefined) this.#turns.putBefore(recap);
  }

  /** The session's conversation continues in this call: its agent is told what was said before. Call it once, when the call is open. */
  goOn(): void {
    this.#seed = this.#turns.text;
    this.#tellSeed();
  }

  /** Notes what pages are shown. A turn that is complete is kept at once: this node may die any moment. */
  note(frames: readonly CallFrame[]): void {
    if (this.#turns.note(frames)) this.#isDue = true;
    this.#isSaidMore ||= frames.some(({ type }) => type === 'transcript');
    this.#keepWhatIsDue();
  }

  /** Does what is due; call it several times a second, and when the record has changed. */
  follow(): void {
    this.#tellSeed();
    this.#keepWhatIsDue();
  }

  /** Keeps each turn when it is complete, and what is being said when the call closes and another may follow. */
  #keepWhatIsDue(): void {
    const { state, closeReason } = this.#call.record;
    const hasLeft = MAY_BE_FOLLOWED.has(closeReason);
    const isLeaving = hasLeft && !this.#hasLeft;
    this.#hasLeft = hasLeft;
    // By then a call that replaces this one has read what was said, and keeps what is said from then on.
    const keepsTurns = state === 'open' || (hasLeft && closeReason !== 'replaced');
    if (isLeaving || (this.#isDue && keepsTurns)) this.keep();
  }

  /** Keeps what is not kept yet: this node may be the last one that knows it. */
  keep(): void {
    if (!this.#isSaidMore) return;
    this.#isSaidMore = false;
    this.#isDue = false;
    const { recaps, running } = this.#deps;
    running.start(recaps.keep(this.#call.record.sessionId, this.#turns.recap));
  }

  /** Tells the agent what was said before; waits while nobody hears the call. */
  #tellSeed(): void {
    if (this.#seed === undefined) return;
    const item = { id: itemIdOf('recap'), type: 'message', role: 'user', text: this.#seed } as const;
    if (this.#call.conversation.add(item)) this.#seed = undefined;
  }
}
