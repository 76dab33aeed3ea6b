import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { audioProgram } from '../support/audio-page.ts';
import { reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { bundleOfficialSdk } from '../support/official-sdk.ts';
import { soon } from '../support/soon.ts';
import { browser, host, useHost, widgetKey, world } from './use-host.ts';

const skipped = reasonToSkipBrowser();
const LOUD = 0.01;

describe.skipIf(skipped !== undefined)(`A call that the server opens, with the echo agent, ${skipped ?? ''}`, () => {
  let visit: Visit;

  useHost(
    {
      NODE_ENV: 'development',
      UPSTREAM_PROVIDER: 'local',
      HEARTBEAT_INTERVAL_SEC: '1',
      WIDGET_SESSION_PER_MIN: '1000',
      WIDGET_MAX_CONCURRENT_SESSIONS: '1000',
    },
    { key: { allowOverrides: false }, agents: [{ id: 'guide', model: 'echo' }] },
  );

  beforeEach(async () => {
    visit = await Visit.begin(browser, [host.origin, world.server.origin], { permissions: ['microphone'] });
    await visit.page.goto(`${host.origin}/`);
    await inPage(audioProgram);
  });

  afterEach(() => visit.finish());

  const inPage = <T = unknown>(expression: string): Promise<T> => visit.page.evaluate<T>(expression);
  const post = (path: string, body: string): string =>
    `fetch('${world.server.origin}${path}', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(${body}),
    }).then((reply) => reply.json())`;
  const dial = (call: string, secret: string): Promise<unknown> =>
    inPage(`dial('${world.server.origin}/api/realtime/calls', {
      headers: { Authorization: 'Bearer ' + ${secret} },
    }).then((call) => { globalThis.${call} = call; })`);

  /** Sets the page's global `reply`. */
  async function create(email?: string): Promise<void> {
    const body = JSON.stringify({ widgetKey, agentId: 'guide', email });
    await inPage(`${post('/api/session', body)}.then((body) => { globalThis.reply = body; })`);
  }

  async function hearsItself(call = 'call'): Promise<void> {
    await inPage('speak(true)');
    await vi.waitFor(async () => expect(await inPage(`${call}.loudness() > ${LOUD}`)).toBe(true), soon);
  }

  /** The page keeps sending and closes nothing; what it hears ends all the same. */
  async function fallsSilent(call = 'call'): Promise<void> {
    const closed = `[${call}.channelClosed, ${call}.transportClosed]`;
    await vi.waitFor(async () => expect(await inPage(closed)).toEqual([true, true]), soon);
    const count = await inPage<number>(`packets(${call}.peer)`);
    expect(count).toBeGreaterThan(0);
    await vi.waitFor(async () => expect(await inPage(`${call}.loudness()`)).toBe(0), soon);
    expect(await inPage(`packets(${call}.peer)`)).toBe(count);
    expect(await inPage(`${call}.peer.signalingState`)).toBe('stable');
  }

  test('is heard', async () => {
    await create();
    expect(await inPage('reply')).toMatchObject({
      client_secret: { value: expect.stringMatching(/^ek_sb_/) },
      call: { mode: 'brokered', dataChannel: 'open' },
    });
    await dial('call', 'reply.client_secret.value');
    expect(await inPage('[call.status, call.location]')).toEqual([
      201,
      expect.stringMatching(/^\/api\/realtime\/calls\/call_/),
    ]);
    await hearsItself();
  });

  test('falls silent when its session is closed, even if the page ignores that', async () => {
    await create();
    await dial('call', 'reply.client_secret.value');
    await hearsItself();
    await inPage(post('/api/realtime/end', '{ sm_session_id: reply.sm_session_id }'));
    await fallsSilent();
  });

  test('falls silent when an operator ends its session, even if the page has no socket to hear of it', async () => {
    await create();
    await dial('call', 'reply.client_secret.value');
    await hearsItself();
    const id = encodeURIComponent(await inPage<string>('reply.sm_session_id'));
    expect((await world.backend().post(`/api/operator/sessions/${id}/end`, {})).status).toBe(200);
    await fallsSilent();
  });

  test('ends when the page opens another with a new ticket', async () => {
    await create();
    await dial('call', 'reply.client_secret.value');
    await hearsItself();
    await inPage(
      `${post('/api/realtime/ticket', '{ sm_session_id: reply.sm_session_id }')}.then((body) => { globalThis.ticket = body; })`,
    );
    await dial('second', 'ticket.client_secret.value');
    await fallsSilent();
    await hearsItself('second');
  });

  test('opens only once with its ticket', async () => {
    await create();
    await dial('call', 'reply.client_secret.value');
    await dial('second', 'reply.client_secret.value');
    expect(await inPage('[call.status, second.status]')).toEqual([201, 401]);
    await hearsItself();
  });

  test('is metered by what the server hears, whatever the page reports', async () => {
    // A visitor of its own, because other tests have used the key.
    const email = 'metered@mail.example';
    await create(email);
    await dial('call', 'reply.client_secret.value');
    await hearsItself();
    await inPage('speak(false)');
    const counted = async (): Promise<number> => {
      const report = `{ sm_session_id: reply.sm_session_id, email: '${email}', tokens: 0, dollars: 0 }`;
      return (await inPage<{ usage: { tokens: number } }>(post('/api/auth/usage', report))).usage.tokens;
    };
    const told = async (): Promise<number> => {
      const done = "call.events.filter(({ type }) => type === 'response.done')";
      const events = await inPage<{ response: { usage: { total_tokens: number } } }[]>(done);
      return events.reduce((sum, { response }) => sum + response.usage.total_tokens, 0);
    };
    await vi.waitFor(async () => {
      const tokens = await told();
      expect(tokens).toBeGreaterThan(0);
      expect(await counted()).toBe(tokens);
    }, soon);
  });

  test('falls silent when the server shuts down, and does not delay the shutdown', async () => {
    await create();
    await dial('call', 'reply.client_secret.value');
    await hearsItself();
    expect(await world.restart('SIGTERM')).toEqual({ code: 0, signal: null });
    await fallsSilent();
  });

  test('is opened by our SDK, which says goodbye to its page before the call stops', async () => {
    await inPage(`(async () => {
      globalThis.seen = [];
      globalThis.session = await Switchboard.connect({
        baseUrl: '${world.server.origin}', widgetKey: '${widgetKey}', agentId: 'guide', audio: true,
      });
      globalThis.call = await session.connectAudio();
      session.on('call', ({ state }) => seen.push(state));
      session.on('ended', ({ reason }) => seen.push(reason, call.peer.connectionState));
    })()`);
    await vi.waitFor(async () => expect(await inPage('call.peer.connectionState')).toBe('connected'), soon);
    expect(await inPage('session.brokered')).toBe(true);
    await inPage(post('/api/realtime/end', '{ sm_session_id: session.id }'));
    await vi.waitFor(async () => expect(await inPage('call.peer.connectionState')).toBe('closed'), soon);
    await vi.waitFor(async () => expect(await inPage('session.state')).toBe('ended'), soon);
    expect(await inPage('call.stream.active')).toBe(false);
  });

  test('is opened by the official SDK of the provider, with our address and nothing else of ours', async () => {
    await inPage(await bundleOfficialSdk());
    await create();
    await inPage(`(async () => {
      globalThis.heard = [];
      const baseUrl = '${world.server.origin}/api/realtime/calls';
      globalThis.transport = new Official.OpenAIRealtimeWebRTC({ baseUrl, mediaStream: voice });
      transport.on('*', ({ type }) => heard.push(type));
      await transport.connect({ apiKey: reply.client_secret.value, model: 'echo' });
    })()`);
    expect(await inPage('[transport.status, transport.callId]')).toEqual([
      'connected',
      expect.stringMatching(/^call_/),
    ]);
    await inPage('speak(true)');
    const hears = (type: string): Promise<void> =>
      vi.waitFor(async () => expect(await inPage('heard')).toContain(type), soon);
    await hears('input_audio_buffer.speech_started');
    await inPage('speak(false)');
    await hears('response.done');
    expect(await inPage('heard.includes("session.created")')).toBe(true);
    await inPage(post('/api/realtime/end', '{ sm_session_id: reply.sm_session_id }'));
    await vi.waitFor(
      async () => expect(await inPage('transport.connectionState.dataChannel?.readyState')).not.toBe('open'),
      soon,
    );
  });
});
