import { vi, type Mock } from 'vitest';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { Calls, OpenCallRequest } from '../../src/calls/contract.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { exampleAnswer } from '../../src/http/samples.ts';
import type { Reply, TestApp } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { safari } from '../features/calls/sdp/corpus.ts';
import { call } from '../contracts/voice-calls.ts';

type Open = Calls['open'];

/** An offer without a data channel, as a browser makes it. */
export const OFFER = safari;
export const ANSWER = exampleAnswer;
/** The provider's own id of a call, which nobody may see. */
export const PROVIDER_CALL = 'rtc_provider_secret';
export const CALL = 'call_kX2vQ9mB4tYw7nLcR1sZ0A';

function callOf({ session, setup }: OpenCallRequest): CallRecord {
  const { id: sessionId, subject, tenantId, keyId, provider } = session;
  return call({
    id: CALL,
    sessionId,
    subject,
    tenantId,
    keyId,
    provider,
    model: setup.model,
    state: 'open',
    providerCallId: PROVIDER_CALL,
    createdAtMs: 0,
    openedAtMs: 0,
    giveUpAtMs: 0,
    ownerNode: 'node',
  });
}

/** Replaces the calls of a service with a fake that opens every call, until the test says otherwise. */
export function fakeCalls(app: TestApp): Mock<Open> {
  return vi
    .spyOn(app.service.calls, 'open')
    .mockImplementation((request) => Promise.resolve({ record: callOf(request), answerSdp: ANSWER }));
}

/** A brokered session, as its page knows it. */
export interface Opened {
  readonly id: string;
  readonly ticket: string;
  readonly origin: string;
}

export async function openBrokered(app: TestApp, key: WidgetKey, body: object = {}): Promise<Opened> {
  return openedBy(await app.create(key, body), key.origin);
}

export function openedBy({ status, text, body }: Reply, origin: string): Opened {
  if (status !== 200) throw new Error(text);
  const { value } = body['client_secret'] as { readonly value: string };
  return { id: String(body['sm_session_id']), ticket: value, origin };
}

/** Posts an offer, as the provider's SDK does. */
export function exchange(
  app: TestApp,
  { ticket, origin }: Pick<Opened, 'ticket' | 'origin'>,
  changes: {
    readonly offer?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Reply> {
  const { offer = OFFER, headers = {}, signal } = changes;
  return app.send({
    method: 'POST',
    path: '/api/realtime/calls',
    body: offer,
    headers: { authorization: `Bearer ${ticket}`, 'content-type': 'application/sdp', origin, ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A call of a session that is over. */
export function closedCall(sessionId: string): CallRecord {
  return call({
    id: 'call_1',
    sessionId,
    subject: sessionId.slice(2, 34),
    provider: 'openai',
    model: 'gpt-realtime',
    state: 'closed',
    providerCallId: 'rtc_1',
    createdAtMs: NOON,
    openedAtMs: NOON + SECOND,
    closedAtMs: NOON + 5 * SECOND,
    closeReason: 'remote',
    hangup: 'already_over',
    hangupTries: 1,
    giveUpAtMs: null,
    providerEndsAtMs: NOON + 3600 * SECOND,
    ownerNode: 'node',
    version: 4,
  });
}
