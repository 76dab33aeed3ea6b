import { TokenSource } from 'livekit-client';
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { API_KEY, API_SECRET, LiveKitServer, webhookOf } from '../support/livekit-server.ts';
import { soon } from '../support/soon.ts';
import { site, siteKey, World } from '../support/world.ts';

// No LiveKit server can run here: a stand-in built with LiveKit's own libraries plays who joins and reports on rooms.

let livekit: LiveKitServer;
let world: World;

beforeAll(async () => {
  livekit = await LiveKitServer.start();
  const key = { id: 'site', key: siteKey, origin: site, allowOverrides: false, agents: ['support'] };
  const agents = [{ id: 'support', agentName: 'clerk' }];
  const settings = { UPSTREAM_PROVIDER: 'livekit', UPSTREAM_BASE_URL: '', ...livekit.settings };
  world = await World.start(settings, { tenants: [{ id: 'acme', widgetKeys: [key], agents }] });
  world.confidential.add(API_SECRET);
});

afterAll(async () => {
  await world?.close();
  await livekit?.close();
});

const tell = async (event: object): Promise<number> => {
  const { body, authorization } = await webhookOf(event);
  const headers = { 'content-type': 'application/webhook+json', authorization };
  return (await fetch(`${world.server.origin}/v1/livekit/webhook`, { method: 'POST', body, headers })).status;
};

test('LiveKit’s own client joins the room of its session, and the room is deleted when an operator ends the session', async () => {
  const url = `${world.server.origin}/v1/livekit/token`;
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin: site,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe(site);
  expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,content-type');

  const source = TokenSource.endpoint(url, { headers: { Authorization: `Bearer ${siteKey}`, Origin: site } });
  const { serverUrl, participantToken } = await source.fetch({ agentName: 'clerk' });
  expect(serverUrl).toBe(livekit.settings.LIVEKIT_URL);
  await expect(source.fetch({ participantIdentity: 'admin' })).rejects.toThrow('participant_identity');

  const { agents } = await livekit.join(participantToken);
  expect(agents).toEqual(['clerk']);
  const { sub: identity = '', video } = await new TokenVerifier(API_KEY, API_SECRET).verify(participantToken);
  const name = String(video?.room);
  expect(await tell({ event: 'participant_joined', room: { name }, participant: { identity } })).toBe(200);

  const service = world.backend();
  const { text } = await service.get('/api/operator/calls');
  const { calls } = JSON.parse(text) as { readonly calls: readonly { readonly session?: string }[] };
  expect(calls).toMatchObject([{ ref: name, state: 'open', provider: 'livekit' }]);
  const id = String(calls[0]?.session);
  const ended = await service.post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, { reason: 'a test' });
  expect(ended.status, ended.text).toBe(200);
  await vi.waitFor(() => expect(livekit.rooms.size).toBe(0), soon);

  // The token is valid for another minute: if it opens the room anew, LiveKit reports that, and the room is closed again.
  await livekit.join(participantToken);
  expect(await tell({ event: 'room_started', room: { name } })).toBe(200);
  await vi.waitFor(() => expect(livekit.rooms.size).toBe(0), soon);
  expect(world.printed()).not.toContain(participantToken);
  expect(world.leaks()).toEqual([]);
});
