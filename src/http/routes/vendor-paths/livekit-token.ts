import { createIdempotencyHeader } from '../../../protocol/idempotency.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { traceparentHeader } from '../../../protocol/create.ts';
import {
  roomTokenReply,
  roomTokenRequest,
  type RoomTokenReply,
  type RoomTokenRequest,
} from '../../../protocol/vendor-paths.ts';
import { defineRoute, type Call, type Result, type Route } from '../../route.ts';
import type { Services } from '../../services.ts';
import { createFor, findWhom, whomHeaders } from './caller.ts';
import { createRefusals } from '../create-session.ts';
import { findRoomAgent, readVisitor } from './room-visitor.ts';

type TokenServices = Pick<Services, 'core' | 'tenants' | 'createSession'>;

/** POST /v1/livekit/token: a create in the shape of LiveKit's `TokenSource.endpoint` (docs/contract.md, section 5.17). */
export function liveKitTokenRoute(services: TokenServices): Route {
  return defineRoute<RoomTokenRequest>({
    method: 'POST',
    path: '/v1/livekit/token',
    operationId: 'createRoomToken',
    summary: 'Create a session as LiveKit’s clients do',
    description:
      'For `TokenSource.endpoint` of LiveKit’s SDKs, if UPSTREAM_PROVIDER is livekit. The Authorization header has the widget key of the page, or a service token of its back end.',
    tag: 'Vendor paths',
    access: 'proof',
    cors: 'widgets',
    body: roomTokenRequest,
    headers: createIdempotencyHeader.extend({ ...whomHeaders.shape, ...traceparentHeader.shape }),
    bodyExample: { room_config: { agents: [{ agent_name: 'clerk' }] } },
    replies: { 201: { description: 'The token for the room', schema: roomTokenReply, example: exampleReply } },
    refusals: createRefusals,
    credentials: ['service', 'widgetKey'],
    handle: (call) => create(call, services),
  });
}

const exampleReply: RoomTokenReply = {
  server_url: 'wss://example.livekit.cloud',
  participant_token: 'eyJhbGciOiJIUzI1NiJ9.eyJ2aWRlbyI6e319.x',
};

async function create(call: Call<RoomTokenRequest>, services: TokenServices): Promise<Result> {
  const { core, tenants, createSession } = services;
  const { roomUrl, name } = core.provider;
  if (roomUrl === undefined)
    return new Refusal('INVALID_REQUEST', `Rooms need UPSTREAM_PROVIDER=livekit; here the provider is ${name}.`);
  await tenants.refreshIfLate();
  const agentId = findRoomAgent(call, services);
  if (agentId instanceof Refusal) return agentId;
  const whom = findWhom(call, services, agentId);
  if (whom instanceof Refusal) return whom;
  const visitor = readVisitor(call, tenants.keyOf(whom.named.widgetKey ?? '')?.key);
  if (visitor instanceof Refusal) return visitor;
  const reply = await createSession(createFor(whom, call, {}, visitor));
  if (reply instanceof Refusal) return reply;
  const body: RoomTokenReply = { server_url: roomUrl, participant_token: reply.client_secret.value };
  return { status: 201, body };
}
