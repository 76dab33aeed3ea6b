import {
  clientSecretsReply,
  clientSecretsRequest,
  wishOf,
  type ClientSecretsReply,
  type ClientSecretsRequest,
} from '../../../protocol/vendor-paths.ts';
import { createIdempotencyHeader } from '../../../protocol/idempotency.ts';
import { traceparentHeader } from '../../../protocol/create.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { invalidFields } from '../../refusals.ts';
import { defineRoute, type Call, type Result, type Route } from '../../route.ts';
import { sample } from '../../samples.ts';
import type { Services } from '../../services.ts';
import { createRefusals } from '../create-session.ts';
import { createFor, findWhom, whomHeaders } from './caller.ts';

type SecretServices = Pick<Services, 'tenants' | 'createSession'>;

/** POST /v1/realtime/client_secrets: a create in the shape of OpenAI's (docs/contract.md, section 5.17). */
export function clientSecretsRoute(services: SecretServices): Route {
  return defineRoute<ClientSecretsRequest>({
    method: 'POST',
    path: '/v1/realtime/client_secrets',
    operationId: 'createClientSecret',
    summary: 'Create a session as OpenAI’s clients do',
    description:
      'For software written for OpenAI: set its base URL to this server’s address with /v1, and its API key to a service token, or to the widget key of the page that sends the request.',
    tag: 'Vendor paths',
    access: 'proof',
    cors: 'widgets',
    body: clientSecretsRequest,
    headers: createIdempotencyHeader.extend({ ...whomHeaders.shape, ...traceparentHeader.shape }),
    bodyExample: { session: { type: 'realtime' } },
    replies: {
      200: { description: 'The secret that opens the call', schema: clientSecretsReply, example: exampleReply },
    },
    refusals: [...createRefusals, 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'],
    credentials: ['service', 'widgetKey'],
    handle: (call) => create(call, services),
  });
}

const exampleReply: ClientSecretsReply = {
  value: 'ek_sb_3kX2vQ9mB4tYw7nLcR1sZ0A',
  expires_at: 1_893_499_260,
  session: { type: 'realtime', object: 'realtime.session', id: 'sess_C9CwUVUzUzYIssh3ELY1d' },
  switchboard: {
    sm_session_id: sample.sm_session_id,
    heartbeat: sample.heartbeat,
    limits: sample.limits,
    call: { mode: 'brokered', url: 'https://voice.example.com/api/realtime/calls', dataChannel: 'open' },
    keyId: 'site',
  },
};

async function create(call: Call<ClientSecretsRequest>, { tenants, createSession }: SecretServices): Promise<Result> {
  await tenants.refreshIfLate();
  const asked = wishOf(call.body?.session);
  if ('faults' in asked) return invalidFields(asked.faults);
  const whom = findWhom(call, { tenants });
  if (whom instanceof Refusal) return whom;
  const reply = await createSession(createFor(whom, call, asked.wish));
  if (reply instanceof Refusal) return reply;
  const { id, client_secret, ...switchboard } = reply;
  const keyId = tenants.keyOf(whom.named.widgetKey ?? '')?.key.id ?? '';
  const body: ClientSecretsReply = {
    value: client_secret.value,
    expires_at: client_secret.expires_at,
    session: { type: 'realtime', object: 'realtime.session', id },
    switchboard: { ...switchboard, keyId },
  };
  return { status: 200, body };
}
