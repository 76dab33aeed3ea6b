/** Work that nobody waits for, as long as it is under way: its faults are told, and a shutdown can wait for it. */
export class BackgroundTasks {
  readonly #works = new Set<Promise<void>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  start(work: Promise<unknown>): void {
    const done = work.then(() => undefined, this.#onError).finally(() => this.#works.delete(done));
    this.#works.add(done);
  }

  /** Resolves when nothing is under way, nor what that began. */
  async settled(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
  }
}
