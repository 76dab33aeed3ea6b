import type { CallRecord } from '../../machines/voice-call/types.ts';
import { PendingAnswers } from '../kernel/async.ts';
import type { BusMessage } from '../protocol/bus.ts';
import type { Bus, BusListeners } from '../stores/bus/contract.ts';
import type { HeldCall } from './held-call.ts';

/** How long to wait for the node that holds a call: an operator waits for the whole page. */
const ANSWER_MS = 500;

interface OpenResponsesDeps {
  readonly bus: Pick<Bus, 'publish' | 'followed'>;
  /** The call, where this node holds it. */
  readonly heldOf: (callId: string) => Pick<HeldCall, 'isReleased' | 'runningResponses'> | undefined;
  readonly after: (ms: number, act: () => void) => () => void;
}

/** How many responses run in calls, whichever nodes hold them. */
export class OpenResponses {
  readonly #deps: OpenResponsesDeps;
  readonly #answers: PendingAnswers<number | null>;
  readonly listeners: BusListeners = {
    'call.count': (message) => this.#count(message),
    'call.counted': ({ request, responses }) => this.#answers.hear(request, responses),
  };

  constructor(deps: OpenResponsesDeps) {
    this.#deps = deps;
    this.#answers = new PendingAnswers(deps.after);
  }

  /** @returns undefined where nobody hears the call, or its node does not answer within half a second */
  async of({ id: callId, sessionId }: Pick<CallRecord, 'id' | 'sessionId'>): Promise<number | undefined> {
    const { bus } = this.#deps;
    const held = this.#heldOf(callId);
    // Without a shared bus there are no other nodes.
    if (held !== undefined || bus.followed === undefined) return held?.runningResponses();
    return new Promise((resolve) => {
      this.#answers.ask(
        ANSWER_MS,
        (request) => bus.publish({ type: 'call.count', sessionId, callId, request }),
        (answer) => resolve(answer ?? undefined),
      );
    });
  }

  #count({ callId, request }: Extract<BusMessage, { type: 'call.count' }>): void {
    const held = this.#heldOf(callId);
    if (held === undefined) return;
    const responses = held.runningResponses() ?? null;
    this.#deps.bus.publish({ type: 'call.counted', request, responses });
  }

  #heldOf(callId: string): Pick<HeldCall, 'runningResponses'> | undefined {
    const held = this.#deps.heldOf(callId);
    return held?.isReleased === false ? held : undefined;
  }
}
