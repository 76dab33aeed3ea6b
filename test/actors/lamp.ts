import { assertEvent, assign, emit, setup } from 'xstate';
import { createHost, type ActorKind, type Host } from '../../src/actors/host.ts';

export interface Lamp {
  readonly id: string;
  readonly version: number;
  readonly isOn: boolean;
  readonly pulls: number;
}

export type Event =
  | { type: 'MOUNT'; id: string }
  | { type: 'PULL' }
  | { type: 'LOOK' }
  | { type: 'BREAK' }
  | { type: 'POLISH' };
export type Fact = { type: 'lamp.on' };

const lampMachine = setup({
  types: { context: {} as Lamp, events: {} as Event, emitted: {} as Fact },
  guards: {
    breaks: () => {
      throw new Error('a guard that throws');
    },
  },
  actions: {
    mount: assign(({ event }) => {
      assertEvent(event, 'MOUNT');
      return { id: event.id, version: 1, isOn: false, pulls: 0 };
    }),
    pull: assign(({ context }) => ({
      ...context,
      isOn: !context.isOn,
      pulls: context.pulls + 1,
      version: context.version + 1,
    })),
    tellOn: emit({ type: 'lamp.on' }),
  },
}).createMachine({
  id: 'lamp',
  context: {} as Lamp,
  initial: 'boxed',
  states: {
    boxed: { on: { MOUNT: { target: 'off', actions: 'mount' } } },
    off: { on: { PULL: { target: 'on', actions: ['pull', 'tellOn'] }, BREAK: { guard: 'breaks', target: 'on' } } },
    on: { on: { PULL: { target: 'off', actions: 'pull' } } },
    smashed: { type: 'final' },
  },
});

/** A store that answers later, and keeps what it was asked. */
export class LampStore {
  readonly lamps = new Map<string, Lamp>();
  readonly asked: string[] = [];
  /** Called before each save, so that a test can save something else first. */
  beforeSave: (lamp: Lamp) => void = () => undefined;
  /** How much work is in progress, by id. */
  readonly busy = new Map<string, number>();
  mostBusy = 0;

  put(id: string, fields: Partial<Lamp> = {}): void {
    this.lamps.set(id, { id, version: 1, isOn: false, pulls: 0, ...fields });
  }

  async load(id: string): Promise<Lamp | undefined> {
    this.asked.push(`load ${id}`);
    this.#begin(id);
    await pause();
    return this.lamps.get(id);
  }

  async save(lamp: Lamp, expectedVersion: number): Promise<boolean> {
    await pause();
    this.beforeSave(lamp);
    const isFirst = this.lamps.get(lamp.id)?.version === expectedVersion;
    this.asked.push(`save ${lamp.id} ${isFirst}`);
    if (isFirst) this.lamps.set(lamp.id, lamp);
    this.busy.set(lamp.id, 0);
    return isFirst;
  }

  #begin(id: string): void {
    const busy = (this.busy.get(id) ?? 0) + 1;
    this.busy.set(id, busy);
    this.mostBusy = Math.max(this.mostBusy, busy);
  }
}

export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function hostOn(
  store: ActorKind<Lamp, Event, Fact>['store'],
  more: Partial<ActorKind<Lamp, Event, Fact>> = {},
): Host<Lamp, Event, Fact> {
  return createHost<Lamp, Event, Fact>({
    machine: lampMachine,
    store,
    stateOf: (lamp) => (lamp.isOn ? 'on' : 'off'),
    ...more,
  });
}
