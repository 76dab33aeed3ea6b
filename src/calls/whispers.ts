import type { Clock } from '../kernel/time.ts';
import { PendingAnswers } from '../kernel/async.ts';
import type { WhisperOutcome, Whispers } from './contract.ts';
import { ANSWER_LATE_MS, TAKEN_WITHIN_MS } from '../protocol/bus.ts';
import type { Bus } from '../stores/bus/contract.ts';

interface BusWhispersDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  readonly clock: Clock;
  readonly after?: (ms: number, act: () => void) => () => void;
}

/**
 * Asks whichever node holds a session's call to add words to it that only the agent reads. The words are in the message to that node and nowhere
 * else.
 */
export class BusWhispers implements Whispers {
  readonly #deps: BusWhispersDeps;
  readonly #answers: PendingAnswers<WhisperOutcome>;

  constructor(deps: BusWhispersDeps) {
    this.#deps = deps;
    this.#answers = new PendingAnswers(deps.after);
    deps.bus.subscribe({
      'call.whispered': ({ request, isTold }) => this.#answers.hear(request, isTold ? 'told' : 'not_open'),
    });
  }

  send(sessionId: string, text: string): Promise<WhisperOutcome> {
    const { bus, clock } = this.#deps;
    const untilMs = clock.now() + TAKEN_WITHIN_MS;
    return new Promise((resolve) => {
      this.#answers.ask(
        TAKEN_WITHIN_MS + ANSWER_LATE_MS,
        (request) => bus.publish({ type: 'call.whisper', sessionId, request, untilMs, text }),
        (answer = 'unanswered') => resolve(answer),
      );
    });
  }
}
