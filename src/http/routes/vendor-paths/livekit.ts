import { createIdempotencyHeader } from '../../../protocol/idempotency-header.ts';
import { Refusal, wrongField, wrongFields, upstreamRefusal } from '../../../protocol/refusal.ts';
import { traceparentHeader } from '../../../protocol/create.ts';
import {
  roomTokenReply,
  roomTokenRequest,
  type RoomTokenReply,
  type RoomTokenRequest,
} from '../../../protocol/vendor-paths.ts';
import { defineRoute, type Call, type Result, type Route } from '../../route.ts';
import type { Services } from '../../services.ts';
import { createFor, findWhom, whomHeaders, bearerOf, findTenant } from './caller.ts';
import { createRefusals } from '../create-session.ts';
import type { WidgetKey } from '../../../stores/tenants/contract.ts';
import type { CreateInput } from '../../../sessions/create/step.ts';
import { done } from '../../../protocol/fields.ts';
import { UpstreamFault } from '../../../upstream/contract.ts';

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

type RoomCall = Call<RoomTokenRequest>;

/** The id of the tenant's agent that has the requested LiveKit agent name; undefined where none is requested. */
function findRoomAgent(call: RoomCall, services: Pick<Services, 'tenants'>): string | undefined | Refusal {
  const agentName = call.body?.room_config?.agents?.[0]?.agent_name;
  if (agentName === undefined || agentName === '') return undefined;
  const tenant = call.isService ? findTenant(call, services) : services.tenants.keyOf(bearerOf(call) ?? '')?.tenant;
  // Without a valid key the create refuses the request.
  if (tenant === undefined || tenant instanceof Refusal) return tenant;
  const header = call.request.headers['x-switchboard-agent'];
  const [found, ...others] = tenant.agents.filter(
    (agent) => agent.agentName === agentName && (header ?? agent.id) === agent.id,
  );
  if (found !== undefined && others.length === 0) return found.id;
  const why =
    found === undefined
      ? 'is the agentName of no agent of the tenant'
      : 'is that of several agents: send X-Switchboard-Agent';
  return wrongField('room_config.agents.0.agent_name', why);
}

/**
 * What the request says of the visitor. Only a back end, or a page of a key with `allowOverrides`, may say it, because agents may trust it.
 * Nobody may choose the room or the visitor's identity.
 */
function readVisitor({ body, isService }: RoomCall, key: WidgetKey | undefined): CreateInput['visitor'] | Refusal {
  const { room_name, participant_identity, room_config, ...said } = body ?? {};
  for (const [field, value] of Object.entries({ room_name, participant_identity }))
    if (value !== undefined && value !== '')
      return wrongField(field, 'is never taken: each session has a room and an identity of its own; leave it out');
  const { participant_name: name, participant_metadata: metadata, participant_attributes: attributes } = said;
  const agentMetadata = room_config?.agents?.[0]?.metadata;
  const asked = { ...said, 'room_config.agents.0.metadata': agentMetadata };
  const paths = Object.entries(asked).flatMap(([path, value]) => (value === undefined ? [] : [path]));
  if (!isService && key?.allowOverrides === false && paths.length > 0)
    return wrongFields(
      'FORBIDDEN',
      paths.map((path) => ({
        path,
        message: 'is not for pages of this widget key to say: leave it out, or let your back end ask',
      })),
    );
  return { name, metadata, attributes, agentMetadata };
}

type WebhookServices = Pick<Services, 'core' | 'calls'>;

const MAX_BYTES = 64 * 1024;

/** POST /v1/livekit/webhook: takes LiveKit's notifications about the rooms of sessions (docs/contract.md, section 5.17). */
export function liveKitWebhookRoute(services: WebhookServices): Route {
  return defineRoute<string>({
    method: 'POST',
    path: '/v1/livekit/webhook',
    operationId: 'hearRoom',
    summary: 'Receive LiveKit’s webhooks about rooms',
    description:
      'For LiveKit itself: the address to set as a webhook of the project, signed with the key LIVEKIT_API_KEY. When the visitor joins, the session’s minutes begin; when they leave or the room is finished, the session ends. Events delivered twice change nothing.',
    tag: 'Vendor paths',
    access: 'public',
    // The coarser window, because all webhooks come from a few addresses.
    window: 'page',
    text: {
      contentType: 'application/webhook+json',
      maxBytes: MAX_BYTES,
      example: '{"event":"room_finished","room":{"name":"call_kX2vQ9mB4tYw7nLcR1sZ0A"}}',
    },
    replies: { 200: { description: 'The event was received', schema: done, example: { ok: true } } },
    refusals: ['AUTH_REQUIRED', 'UPSTREAM_ERROR', 'SERVICE_UNAVAILABLE'],
    credentials: ['webhook'],
    handle: (call) => hear(call, services),
  });
}

async function hear({ request, body }: Call<string>, { core, calls }: WebhookServices): Promise<Result> {
  const { authorization } = request.headers;
  const event = await core.provider.readWebhook?.(body, authorization, request.atMs);
  if (event === undefined)
    return new Refusal('AUTH_REQUIRED', 'This is no webhook of the LiveKit project whose key is in LIVEKIT_API_KEY.');
  try {
    await calls.ofPages()?.hear(event);
  } catch (fault) {
    // The error reply makes LiveKit send it again.
    if (!(fault instanceof UpstreamFault)) throw fault;
    core.events.dependencyAway('provider', fault, request.requestId, 'hang-up');
    return upstreamRefusal();
  }
  return { status: 200, body: { ok: true } };
}
