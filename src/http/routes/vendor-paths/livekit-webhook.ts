import { done } from '../../../protocol/fields.ts';
import { Refusal, upstreamRefusal } from '../../../protocol/refusal.ts';
import { UpstreamFault } from '../../../upstream/contract.ts';
import { defineRoute, type Call, type Result, type Route } from '../../route.ts';
import type { Services } from '../../services.ts';

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
