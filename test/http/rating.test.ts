import { describe, expect, test } from 'vitest';
import { service, somebody, type TestApp } from '../support/app.ts';
import { MINUTE } from '../support/clock.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const { build } = useApps();
const PATH = '/api/realtime/rate';

const ratingOf = async (app: TestApp, id: string): Promise<unknown> =>
  (await app.get(`/api/operator/sessions/${id}`, service)).body['rating'];

describe('The rating of a session', () => {
  test('is accepted while it is open and for five minutes after its end, and the last one counts', async () => {
    const app = await build();
    const sm_session_id = await app.open(await app.key());
    expect(await ratingOf(app, sm_session_id)).toBeNull();
    const rate = (value: unknown) => app.post(PATH, { sm_session_id, value });
    expect(await rate(2)).toMatchObject({ status: 200, body: { ok: true } });
    await app.post('/api/realtime/end', { sm_session_id });
    app.clock.advance(5 * MINUTE);
    expect((await rate(4)).status).toBe(200);
    expect(await ratingOf(app, sm_session_id)).toBe(4);
    app.clock.advance(1);
    expect(errorOf(await rate(1))).toMatchObject({ status: 403, code: 'SESSION_DURATION_EXCEEDED' });
    expect(await ratingOf(app, sm_session_id)).toBe(4);
  });

  test.each([0, 6, -1, 2.5, '5', null, undefined, true])(
    'must be a whole number from 1 to 5, and not %s',
    async (value) => {
      const app = await build();
      const sm_session_id = await app.open(await app.key());
      expect(errorOf(await app.post(PATH, { sm_session_id, value }))).toMatchObject({
        status: 400,
        code: 'INVALID_REQUEST',
      });
      expect(await ratingOf(app, sm_session_id)).toBeNull();
    },
  );

  test('is accepted only from callers who may speak for the session: not by ref, other e-mail or unknown id', async () => {
    const app = await build();
    const email = somebody();
    const sm_session_id = await app.open(await app.key(), { email });
    for (const other of [
      { sm_session_id: sm_session_id.slice(0, 42), email },
      { sm_session_id },
      { sm_session_id, email: somebody() },
      { sm_session_id: `${sm_session_id.slice(0, -1)}${sm_session_id.endsWith('A') ? 'B' : 'A'}`, email },
    ])
      expect(errorOf(await app.post(PATH, { ...other, value: 1 }))).toMatchObject({
        status: 404,
        code: 'SESSION_NOT_FOUND',
      });
    expect(await ratingOf(app, sm_session_id)).toBeNull();
    expect((await app.post(PATH, { sm_session_id, email, value: 3 })).status).toBe(200);
    expect((await app.post(PATH, { sm_session_id, value: 5 }, service)).status).toBe(200);
    expect(await ratingOf(app, sm_session_id)).toBe(5);
  });
});
