/** What nodes tell each other; a lost message is healed by the caches' own expiry. */
export type BusMessage =
  | { readonly type: 'tenants.changed' }
  | { readonly type: 'login.changed'; readonly loginId: string };

export interface Bus {
  /** Tells every node, this one included. It never throws: the bus is a hint, the store is the truth. */
  publish(message: BusMessage): void;
  /** @returns the way to stop listening. */
  subscribe(listener: (message: BusMessage) => void): () => void;
}
