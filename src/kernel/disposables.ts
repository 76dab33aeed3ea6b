/** Releases what was opened, in the opposite order, whatever fails on the way. */
export class Disposables {
  readonly #steps: (() => unknown)[] = [];
  readonly #onError: (error: unknown) => void;
  #done: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Adds the step that undoes what has just been done. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs every step once; never rejects. */
  dispose(): Promise<void> {
    return (this.#done ??= this.#run());
  }

  async #run(): Promise<void> {
    for (const step of this.#steps.toReversed()) {
      try {
        await step();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
