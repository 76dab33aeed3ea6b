import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import type { CallEvent, CallFact, CallLimits, CallRecord } from '../../machines/voice-call/types.ts';
import { createHost } from '../actors/host.ts';
import { settleAll } from '../kernel/settle-all.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';
import type { Calls } from './contract.ts';

/** For a provider whose calls are not brokered: there are none. A ticket from before the provider was changed opens nothing. */
export class NoCalls implements Calls {
  readonly #store: Pick<VoiceCalls, 'ofSession'>;

  constructor(store: Pick<VoiceCalls, 'ofSession'>) {
    this.#store = store;
  }

  open(): Promise<Refusal> {
    return Promise.resolve(new Refusal('UPSTREAM_ERROR', 'The voice provider opens no brokered calls.'));
  }

  /** Calls from before the provider was changed. */
  ofSession(sessionId: string): Promise<readonly CallRecord[]> {
    return this.#store.ofSession(sessionId);
  }

  runningResponses(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

const MAX_CLOSED = 1000;
const MAX_CONCURRENT = 50;

/**
 * For a service that brokers no calls, or no longer does: calls of a former provider have no owner and get none. The clock alone closes each, as
 * unconfirmed, once its provider must have ended it: the first run marks it, and a run a minute later closes the record.
 * @throws Unavailable when the database is away
 */
export async function closeFormerCalls(store: VoiceCalls, limits: CallLimits, at: number): Promise<void> {
  const machine = createVoiceCallMachine(limits);
  const host = createHost<CallRecord, CallEvent, CallFact>({
    machine,
    store,
    stateOf: ({ state }) => state,
    settled: () => undefined,
  });
  const isOver = ({ providerEndsAtMs, giveUpAtMs }: CallRecord): boolean => at >= (providerEndsAtMs ?? giveUpAtMs ?? 0);
  const orphans = await store.orphans(at, [], MAX_CLOSED);
  await settleAll(orphans, ({ id }) => host.send(id, { type: 'CLOCK', at }, isOver), MAX_CONCURRENT);
}
