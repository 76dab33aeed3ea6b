import type { AtOnce } from '../../kernel/eventually.ts';
import type { Counters } from '../../stores/counters/contract.ts';
import type { KeyName, KeySlots } from '../../stores/key-slots/contract.ts';
import type { Slots } from '../../stores/slots/contract.ts';

/** Counters and slots for one replay: engines in this process's memory, new each time. */
export interface ReplayMemory {
  readonly counters: Pick<Counters, 'take' | 'giveBack'>;
  readonly slots: AtOnce<Slots>;
  readonly keySlots: Pick<KeySlots, 'take' | 'free'> & {
    /** Marks a session as open, whatever the limits are. */
    hold(key: KeyName, sessionId: string, untilMs: number): void;
    /** Marks a session as ended. */
    end(key: KeyName, sessionId: string): void;
  };
}
