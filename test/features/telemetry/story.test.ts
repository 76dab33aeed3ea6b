import { describe, expect, test } from 'vitest';
import { refOf } from '../../../src/kernel/ids.ts';
import { CONSOLE, somebody, type TestApp } from '../../support/app.ts';
import { useApps } from '../../support/use-apps.ts';

type Line = Readonly<Record<string, unknown>>;

const { build } = useApps();

async function follow(level: 'debug' | 'info') {
  const app = await build({ env: { LOG_LEVEL: level } });
  const linesOf = (event: string): Line[] =>
    app
      .logged()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line['event'] === event);
  return { app, linesOf };
}

/** Logs in with a code, as a browser does. */
async function logIn(app: TestApp, email: string): Promise<{ readonly cookie: string; readonly code: string }> {
  await app.post('/api/auth/otp/send', { email });
  await app.service.codes.settled();
  const code = /\b\d{6}\b/.exec(app.outbox.list()[0]?.text ?? '')?.[0] ?? '';
  const verified = await app.post('/api/auth/otp/verify', { email, code }, { origin: CONSOLE });
  return { cookie: String(verified.headers['set-cookie']).split(';')[0] ?? '', code };
}

describe('At LOG_LEVEL=debug the log tells', () => {
  test('each request with its route, status, duration and what it was refused for', async () => {
    const { app, linesOf } = await follow('debug');
    const smSessionId = await app.open(await app.key());
    await app.post('/api/realtime/heartbeat', { sm_session_id: smSessionId });
    await app.post('/api/realtime/heartbeat', { sm_session_id: 1 });
    await app.get(`/nowhere/${smSessionId}?email=ada@example.com`);
    const told = {
      event: 'request.answered',
      level: 'debug',
      requestId: expect.any(String),
      tookMs: expect.any(Number),
    };
    expect(linesOf('request.answered')).toMatchObject([
      { ...told, method: 'POST', route: '/api/session', status: 200 },
      { ...told, method: 'POST', route: '/api/realtime/heartbeat', status: 200 },
      { ...told, method: 'POST', route: '/api/realtime/heartbeat', status: 400, refusal: 'INVALID_REQUEST' },
      { ...told, method: 'GET', route: 'none', status: 404, refusal: 'NOT_FOUND' },
    ]);
    expect(linesOf('request.answered')[0]).not.toHaveProperty('refusal');
  });

  test('each transition of each machine, and no heartbeat that moves nothing', async () => {
    const { app, linesOf } = await follow('debug');
    const smSessionId = await app.open(await app.key());
    for (let n = 0; n < 3; n += 1) {
      app.clock.advance(1000);
      await app.post('/api/realtime/heartbeat', { sm_session_id: smSessionId });
    }
    await app.post('/api/realtime/end', { sm_session_id: smSessionId });
    const { cookie } = await logIn(app, somebody());
    await app.post('/api/auth/logout', {}, { cookie, origin: CONSOLE });
    expect(linesOf('machine.moved')).toMatchObject([
      {
        machine: 'voice-session',
        ref: refOf(smSessionId),
        by: 'OPEN',
        from: 'none',
        to: expect.stringMatching(/engaged$/),
      },
      {
        machine: 'voice-session',
        ref: refOf(smSessionId),
        by: 'END',
        from: expect.stringMatching(/engaged$/),
        to: 'ended',
      },
      { machine: 'otp-challenge', by: 'ISSUE', from: 'none', to: 'pending' },
      // The login opens together with the end of its code, in one save.
      { machine: 'auth-session', by: 'OPEN', from: 'none', to: 'active' },
      { machine: 'otp-challenge', by: 'REDEEM', from: 'pending', to: 'verified' },
      { machine: 'auth-session', by: 'DESTROY', from: 'active', to: 'destroyed' },
    ]);
  });

  test('no secret, no whole session id and no e-mail address', async () => {
    const { app } = await follow('debug');
    const email = somebody();
    const created = await app.create(await app.key(), { email });
    const smSessionId = String(created.body['sm_session_id']);
    await app.post('/api/realtime/end', { sm_session_id: smSessionId, email });
    const { cookie, code } = await logIn(app, email);
    await app.get('/api/auth/session', { cookie });
    const { value } = created.body['client_secret'] as { value: string };
    expect(code).toMatch(/^\d{6}$/);
    for (const secret of [smSessionId, value, email, `"${code}"`, cookie.split('=')[1] ?? cookie])
      expect(app.logged()).not.toContain(secret);
  });
});

test('At any other level the log tells neither', async () => {
  const { app, linesOf } = await follow('info');
  const smSessionId = await app.open(await app.key());
  await app.post('/api/realtime/end', { sm_session_id: smSessionId });
  expect(linesOf('session.ended')).toHaveLength(1);
  expect([...linesOf('request.answered'), ...linesOf('machine.moved')]).toEqual([]);
});
