import type { Clock } from '../kernel/clock.ts';
import { deadline } from '../kernel/deadline.ts';
import { randomId } from '../kernel/ids.ts';
import type { Whispered, Whispers } from './contract.ts';
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
  readonly #waiting = new Map<string, (outcome: Whispered) => void>();

  constructor(deps: BusWhispersDeps) {
    this.#deps = deps;
    deps.bus.subscribe((message) => {
      if (message.type === 'call.whispered') this.#waiting.get(message.request)?.(message.isTold ? 'told' : 'not_open');
    });
  }

  send(sessionId: string, text: string): Promise<Whispered> {
    const { bus, clock, after = deadline } = this.#deps;
    const request = randomId();
    return new Promise((resolve) => {
      const callOff = after(TAKEN_WITHIN_MS + ANSWER_LATE_MS, () => settle('unanswered'));
      const settle = (outcome: Whispered): void => {
        callOff();
        this.#waiting.delete(request);
        resolve(outcome);
      };
      this.#waiting.set(request, settle);
      bus.publish({ type: 'call.whisper', sessionId, request, untilMs: clock.now() + TAKEN_WITHIN_MS, text });
    });
  }
}
