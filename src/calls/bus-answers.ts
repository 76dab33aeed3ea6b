import { deadline } from '../kernel/deadline.ts';
import { randomId } from '../kernel/ids.ts';

/** Waits for other nodes' answers to requests that this node sends over the bus. */
export class BusAnswers<T> {
  readonly #after: typeof deadline;
  readonly #waiting = new Map<string, (answer: T | undefined) => void>();

  constructor(after: typeof deadline = deadline) {
    this.#after = after;
  }

  /** @param send sends the request, by its id @returns the first answer; undefined if none comes within `ms` */
  ask(ms: number, send: (request: string) => void): Promise<T | undefined> {
    const request = randomId();
    return new Promise((resolve) => {
      const callOff = this.#after(ms, () => settle(undefined));
      const settle = (answer: T | undefined): void => {
        callOff();
        this.#waiting.delete(request);
        resolve(answer);
      };
      this.#waiting.set(request, settle);
      send(request);
    });
  }

  /** An answer came. */
  hear(request: string, answer: T): void {
    this.#waiting.get(request)?.(answer);
  }
}
