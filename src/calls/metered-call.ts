import type { ResponseTerms } from '../../machines/held-call/types.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { MeteredCall } from '../metering/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import { MAX_CONTEXT_TOKENS, MAX_RESPONSE_TOKENS } from '../upstream/contract.ts';

/** A call as it is metered. @param setup of its session, where it is still kept */
export function meteredCall(record: CallRecord, setup: SessionSetup | undefined): MeteredCall {
  const { id: callId, sessionId, subject, tenantId, keyId, model } = record;
  const caller = keyId === null ? 'console' : 'widget';
  return { callId, sessionId, subject, tenantId, keyId, model, caller, price: setup?.price ?? null };
}

const BYTES_A_TOKEN = 4;
/** As far as any model reads, for pages that may say themselves how much of a conversation is read. */
const MAX_UNBOUND_CONTEXT_TOKENS = 128_000;

/** What bounds the responses of a call. @param setup of its session, where it is still kept */
export function responseTermsOf(setup: SessionSetup | undefined, max: number): ResponseTerms {
  const { instructions = null, tools = [], isLocked = false } = setup ?? {};
  const setupTokens = Math.ceil(Buffer.byteLength((instructions ?? '') + JSON.stringify(tools)) / BYTES_A_TOKEN);
  const maxItemTokens = isLocked ? MAX_CONTEXT_TOKENS : MAX_UNBOUND_CONTEXT_TOKENS;
  return { max, isLocked, setupTokens, maxItemTokens, maxResponseTokens: MAX_RESPONSE_TOKENS };
}
