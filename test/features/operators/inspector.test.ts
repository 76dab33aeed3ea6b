import { createWebSocketReceiver } from '@statelyai/inspect';
import { describe, expect, test } from 'vitest';
import { somebody, type TestApp } from '../../support/app.ts';
import { useServed } from '../../channel/served.ts';
import { RawClient, requestText } from '../../support/raw-http.ts';
import { upgradeHeaders } from '../../support/socket-client.ts';
import { SECOND } from '../../support/clock.ts';

const serve = useServed();
const path = '/api/operator/inspect';
const env = { INSPECT: '1', PUBLIC_URL: 'http://localhost:3000' };

/** The receiver on which the ecosystem's tools are built, and the service that it watches. */
async function inspected() {
  const { app, port } = await serve({ env });
  const heard: Record<string, unknown>[] = [];
  createWebSocketReceiver({ server: `ws://127.0.0.1:${port}${path}` }).subscribe((event) => {
    heard.push(event as unknown as Record<string, unknown>);
  });
  await expect.poll(() => app.service.inspector?.size).toBe(1);
  return { app, heard };
}

async function hears(app: TestApp, heard: readonly object[], count: number): Promise<void> {
  await expect
    .poll(() => {
      app.service.inspector?.tick();
      return heard.length;
    })
    .toBeGreaterThanOrEqual(count);
}

describe('An inspector of XState', () => {
  test('is told of the sessions that are open, and of each event with the state after it', async () => {
    const { app, heard } = await inspected();
    const id = await app.open(await app.key());
    app.clock.advance(SECOND);
    await app.post('/api/realtime/end', { sm_session_id: id });
    const ref = id.slice(0, 42);
    await hears(app, heard, 5);
    const mine = heard.filter(({ sessionId }) => sessionId === ref);
    expect(mine[0]).toMatchObject({ type: '@xstate.actor', rootId: ref, snapshot: { value: { live: 'engaged' } } });
    expect(JSON.parse(String(mine[0]?.['definition']))).toMatchObject({ id: 'voice-session' });
    expect(mine.slice(-2)).toMatchObject([
      { type: '@xstate.event', event: { type: 'END' } },
      {
        type: '@xstate.snapshot',
        snapshot: { status: 'done', value: 'ended', context: { reason: 'closed_by_client' } },
      },
    ]);
    expect(JSON.stringify(heard)).not.toContain(id);
  });

  test('is told of fifty events a second and no more, so that it slows nothing', async () => {
    const { app, heard } = await inspected();
    const key = await app.key();
    for (let n = 0; n < 60; n += 1) await app.open(key, { email: somebody() });
    await hears(app, heard, 150);
    expect(heard.filter(({ type }) => type === '@xstate.event').length).toBe(50);
  });

  test.each([
    ['from another page', ['Origin: https://evil.example']],
    ['through a proxy', ['X-Forwarded-For: 198.51.100.7']],
    ['under another name', ['Host: rebound.example']],
  ])('%s is refused', async (_, more) => {
    const { port } = await serve({ env });
    const names = more.map((line) => line.split(':')[0]);
    const headers = [...upgradeHeaders.filter((line) => !line.startsWith('Sec-WebSocket-Protocol')), ...more];
    const text = requestText('GET', path, headers);
    const client = await RawClient.sending(port, names.includes('Host') ? text.replace(/Host: .*\r\n/, '') : text);
    const reply = await client.reply();
    client.destroy();
    expect(reply.status).toBe(403);
  });

  test('finds nothing where INSPECT is not set', async () => {
    const { port } = await serve({ env: { PUBLIC_URL: 'http://localhost:3000' } });
    const client = await RawClient.sending(port, requestText('GET', path, upgradeHeaders));
    expect((await client.reply()).status).toBe(404);
    client.destroy();
  });
});
