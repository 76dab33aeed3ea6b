import type { Clock } from '../kernel/time.ts';
import { createInProcessBus } from './bus/in-process.ts';
import type { LiveStores } from './contract.ts';
import { createInProcessRecaps } from './recaps/in-process.ts';
import { createInProcessSlots } from './slots/in-process.ts';
import type { DueAt } from './voice-registry/contract.ts';
import { createInProcessVoiceRegistry } from './voice-registry/in-process.ts';
import { createInProcessWindows } from './windows/in-process.ts';

/**
 * The live stores of a single process.
 * @param onError gets errors that cannot be reported to any caller
 */
export function createInProcessStores(dueAt: DueAt, clock: Clock, onError: (error: unknown) => void): LiveStores {
  const registry = createInProcessVoiceRegistry(dueAt);
  let isEmpty = true;
  return {
    registry,
    slots: createInProcessSlots(registry.leasesOf),
    // Sockets die with their node: nothing keeps their leases alive.
    sockets: { ...createInProcessSlots(), keepAlive: () => undefined },
    windows: createInProcessWindows(),
    bus: createInProcessBus(onError),
    recaps: createInProcessRecaps(),
    clock,
    async restoreWhatIsLost(restore) {
      if (!isEmpty) return;
      await restore(
        () => true,
        () => Promise.resolve(),
      );
      isEmpty = false;
    },
    onLost: () => undefined,
    health: { failure: () => undefined },
    probe: () => Promise.resolve(),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
