import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import type { CallEvent, CallFact, CallLimits, CallRecord } from '../../machines/voice-call/types.ts';
import { createHost } from '../actors/host.ts';
import { settleAll } from '../kernel/async.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';

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
