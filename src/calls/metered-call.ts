import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { MeteredCall } from '../metering/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';

/** A call as it is metered. @param setup of its session, where it is still kept */
export function meteredCall(record: CallRecord, setup: SessionSetup | undefined): MeteredCall {
  const { id: callId, sessionId, subject, tenantId, keyId, model } = record;
  const caller = keyId === null ? 'console' : 'widget';
  return { callId, sessionId, subject, tenantId, keyId, model, caller, price: setup?.price ?? null };
}
