export interface Emitter<Events> {
  readonly on: <T extends keyof Events>(type: T, listener: (event: Events[T]) => void) => () => void;
  readonly off: <T extends keyof Events>(type: T, listener: (event: Events[T]) => void) => void;
  readonly emit: <T extends keyof Events>(type: T, event: Events[T]) => void;
  /** Nobody hears anything from now on. */
  readonly silence: () => void;
}

/** Typed events. A listener that throws harms neither the session nor the other listeners: the page hears of it as usual. */
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
