import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { EndReason, VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { KeptTrace } from '../../kernel/trace-context.ts';
import type { TokenClasses } from '../../protocol/price.ts';
import type { WebhookDelivery } from '../webhooks/contract.ts';

/** A session that is over, and everything that was kept about it. Times are milliseconds since the Unix epoch. */
export interface TracedSession extends Pick<VoiceRecord, 'caller' | 'tenantId' | 'agentId' | 'keyId' | 'provider'> {
  readonly ref: string;
  readonly trace: KeptTrace;
  readonly model: string;
  readonly agentVersion: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly endReason: EndReason;
  readonly tokens: number;
  readonly microDollars: number;
  /** Oldest first, as all lists here. */
  readonly calls: readonly TracedCall[];
  readonly responses: readonly TracedResponse[];
  readonly tools: readonly TracedTool[];
  readonly webhooks: readonly TracedWebhook[];
}

export interface TracedCall extends Pick<
  CallRecord,
  'id' | 'provider' | 'model' | 'createdAtMs' | 'openedAtMs' | 'closingAtMs' | 'closeReason' | 'hangup' | 'hangupTries'
> {
  /** When the provider answered; null if it did not, or if that was not kept. */
  readonly answeredAtMs: number | null;
  readonly closedAtMs: number;
  /** How often another node took the call over. */
  readonly takeovers: number;
}

/** What one response used, if that was reported. */
export interface TracedResponse {
  readonly callId: string;
  /** Names the response within its call. */
  readonly key: string;
  readonly model: string | null;
  readonly atMs: number;
  readonly microDollars: number;
  /** Null if it was not reported by classes. */
  readonly tokens: TokenClasses | null;
}

export interface TracedTool extends Pick<ToolCallRecord, 'id' | 'callId' | 'name' | 'state' | 'code' | 'askedAtMs'> {
  /** Null if nobody saw its end. */
  readonly ms: number | null;
}

/** What one endpoint was told: the last request to it. */
export interface TracedWebhook extends Pick<WebhookDelivery, 'eventId' | 'endpointId' | 'type' | 'state' | 'attempts'> {
  readonly lastAtMs: number;
  readonly ms: number;
  readonly status: number | null;
  readonly code: string | null;
}

export interface TraceClaim {
  /** Takes sessions that ended up to this time; those whose calls no node hears, up to `directBeforeMs`. */
  readonly heardBeforeMs: number;
  readonly directBeforeMs: number;
  readonly limit: number;
}

/** What finished sessions leave for their traces (docs/operations.md, Traces). @throws Unavailable when the database is away */
export interface SessionTraces {
  /** Takes sessions whose spans are due and whose calls are all over; no node gets them again. */
  take(claim: TraceClaim): Promise<readonly TracedSession[]>;
}
