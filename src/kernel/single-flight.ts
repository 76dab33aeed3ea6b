/** Runs the work once for all callers that arrive while it is under way. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

/** Runs work once at a time under each name: whoever asks for it while it is under way gets the same promise. */
export class SingleFlight {
  readonly #flights = new Map<string, Promise<void>>();

  run(name: string, work: () => Promise<void>): Promise<void> {
    const flight = this.#flights.get(name) ?? work().finally(() => this.#flights.delete(name));
    this.#flights.set(name, flight);
    return flight;
  }
}
