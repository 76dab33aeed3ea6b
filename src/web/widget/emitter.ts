export interface Emitter<Events> {
  readonly on: <T extends keyof Events>(type: T, listener: (event: Events[T]) => void) => () => void;
  readonly off: <T extends keyof Events>(type: T, listener: (event: Events[T]) => void) => void;
  readonly emit: <T extends keyof Events>(type: T, event: Events[T]) => void;
  /** Removes all listeners. */
  readonly silence: () => void;
}

/** Typed events. A listener that throws affects neither the session nor other listeners; the page sees the error as uncaught. */
export function createEmitter<Events>(): Emitter<Events> {
  let listeners: { [T in keyof Events]?: Set<(event: Events[T]) => void> } = {};
  const off: Emitter<Events>['off'] = (type, listener) => void listeners[type]?.delete(listener);
  return {
    off,
    on(type, listener) {
      (listeners[type] ??= new Set()).add(listener);
      return () => off(type, listener);
    },
    emit(type, event) {
      for (const listener of listeners[type] ?? []) {
        try {
          listener(event);
        } catch (error) {
          setTimeout(() => {
            throw error;
          });
        }
      }
    },
    silence: () => (listeners = {}),
  };
}
