import { deadline } from './deadline.ts';
import { randomId } from './ids.ts';

/** Requests that this process has sent to other nodes, until each is answered or given up. */
export class PendingAnswers<T> {
  readonly #after: typeof deadline;
  readonly #waiting = new Map<string, (answer: T | undefined) => void>();

  constructor(after: typeof deadline = deadline) {
    this.#after = after;
  }

  /**
   * @param ms how long to wait
   * @param send sends the request, with the id by which its answer names it
   * @param answered is called once: with the first answer, perhaps while `send` runs; with undefined if none comes in time
   */
  ask(ms: number, send: (request: string) => void, answered: (answer: T | undefined) => void): void {
    const request = randomId();
    const callOff = this.#after(ms, () => settle(undefined));
    const settle = (answer: T | undefined): void => {
      callOff();
      this.#waiting.delete(request);
      answered(answer);
    };
    this.#waiting.set(request, settle);
    send(request);
  }

  /** Passes an answer on to whoever sent the request; ignored if that was not this process, or no longer waits. */
  hear(request: string, answer: T): void {
    this.#waiting.get(request)?.(answer);
  }
}
