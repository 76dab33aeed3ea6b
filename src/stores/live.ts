import type { Bus } from './bus/contract.ts';
import { createInProcessBus } from './bus/in-process.ts';
import type { Slots } from './slots/contract.ts';
import { createInProcessSlots } from './slots/in-process.ts';
import type { DueAt, VoiceRegistry } from './voice-registry/contract.ts';
import { createInProcessVoiceRegistry } from './voice-registry/in-process.ts';
import type { Windows } from './windows/contract.ts';
import { createInProcessWindows } from './windows/in-process.ts';

/** The stores of what is under way: every node shares them, and they can be rebuilt from the durable ones. */
export interface LiveStores {
  readonly kind: 'in-process' | 'redis';
  readonly registry: VoiceRegistry;
  readonly slots: Slots;
  readonly windows: Windows;
  readonly bus: Bus;
  /** @throws Unavailable when they do not answer */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** @param onError hears of faults that no caller can be told of */
export function openLiveStores(dueAt: DueAt, onError: (error: unknown) => void): LiveStores {
  return {
    kind: 'in-process',
    registry: createInProcessVoiceRegistry(dueAt),
    slots: createInProcessSlots(),
    windows: createInProcessWindows(),
    bus: createInProcessBus(onError),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
