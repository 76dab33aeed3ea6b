import { Refusal } from '../protocol/refusal.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';
import type { Calls } from './contract.ts';

/** The calls of a provider whose calls nobody brokers: there are none. A ticket of before the provider was changed opens nothing. */
export class NoCalls implements Calls {
  readonly #store: Pick<VoiceCalls, 'ofSession'>;

  constructor(store: Pick<VoiceCalls, 'ofSession'>) {
    this.#store = store;
  }

  open(): Promise<Refusal> {
    return Promise.resolve(new Refusal('UPSTREAM_ERROR', 'The voice provider opens no brokered calls.'));
  }

  /** Those of before. */
  ofSession(sessionId: string): Promise<readonly CallRecord[]> {
    return this.#store.ofSession(sessionId);
  }
}
