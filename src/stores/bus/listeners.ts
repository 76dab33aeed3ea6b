/** Those who listen to something. One that throws or rejects affects no other: its error goes to `onError`. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #all = new Set<{ readonly listen: (...told: Told) => unknown }>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @returns a function that stops listening; a function that listens twice can stop once */
  add(listen: (...told: Told) => unknown): () => void {
    const listener = { listen };
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  tell(...told: Told): void {
    for (const { listen } of this.#all) {
      try {
        const result = listen(...told);
        if (result instanceof Promise) result.catch(this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
