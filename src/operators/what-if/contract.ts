import type { AtOnce } from '../../kernel/eventually.ts';
import type { Counters } from '../../stores/counters/contract.ts';
import type { KeyName, KeySlots } from '../../stores/key-slots/contract.ts';
import type { Slots } from '../../stores/slots/contract.ts';

/** What a replay counts in: engines in this process's memory, new for each replay. */
export interface ReplayMemory {
  readonly counters: Pick<Counters, 'take' | 'giveBack'>;
  readonly slots: AtOnce<Slots>;
  readonly keySlots: Pick<KeySlots, 'take'> & {
    /** It is open, whatever the limits are. */
    hold(key: KeyName, sessionId: string, untilMs: number): void;
    /** It is open no more. */
    end(key: KeyName, sessionId: string): void;
  };
}
