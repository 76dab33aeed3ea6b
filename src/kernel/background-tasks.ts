/** Work that no caller waits for: its errors are reported, and a shutdown can wait until it is done. */
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

  /** Resolves when nothing is under way any more, including what that work started. */
  async settled(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
  }
}
