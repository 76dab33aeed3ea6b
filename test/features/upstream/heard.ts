import type { UpstreamEvent } from '../../../src/upstream/contract.ts';

type Type = UpstreamEvent['type'];
export type EventOf<T extends Type> = Extract<UpstreamEvent, { type: T }>;

/** Collects the events of a call that a provider reports. */
export class Heard {
  readonly events: UpstreamEvent[] = [];
  readonly #waiting = new Set<() => void>();

  readonly hear = (event: UpstreamEvent): void => {
    this.events.push(event);
    for (const look of this.#waiting) look();
  };

  of<T extends Type>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  /** Waits for the event of a type: the first, or the `count`-th. */
  async next<T extends Type>(type: T, count = 1): Promise<EventOf<T>> {
    await this.until(() => this.of(type).length >= count);
    return this.of(type)[count - 1] as EventOf<T>;
  }

  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isSo()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}
