import { describe, expect, test } from 'vitest';
import { VISITOR_MESSAGES } from '../../src/protocol/error-translations/by-language.ts';
import { useApps } from '../support/use-apps.ts';
import type { Reply, TestApp } from '../support/app.ts';

const { build } = useApps();

const heartbeat = (app: TestApp, sm_session_id: string, language?: string): Promise<Reply> =>
  app.send({
    method: 'POST',
    path: '/api/realtime/heartbeat',
    body: { sm_session_id },
    headers: language === undefined ? {} : { 'accept-language': language },
  });

const unknown = 's:7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4:kX2vQ9mB4tYw7nLcR1sZ0A';

describe('The userMessage of an error', () => {
  test.each([
    ['de-AT,de;q=0.9,en;q=0.5', 'de'],
    ['sv, ja;q=0.5', 'ja'],
    ['ar-EG', 'ar'],
    ['zh-TW', 'zh'],
    ['sv', 'en'],
    [undefined, 'en'],
  ] as const)('to Accept-Language %s is in %s, and the reply says so', async (asked, language) => {
    const { body, headers } = await heartbeat(await build(), unknown, asked);
    expect(body['userMessage']).toBe(VISITOR_MESSAGES[language].errors.SESSION_NOT_FOUND);
    expect(headers).toMatchObject({ 'content-language': language, 'cache-control': 'no-store' });
  });

  test('names the reason of an end in the same language', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    await app.send({ method: 'POST', path: '/api/realtime/end', body: { sm_session_id: id } });
    const { body } = await heartbeat(app, id, 'fr');
    expect(body).toMatchObject({ reason: 'closed_by_client', userMessage: VISITOR_MESSAGES.fr.ends.closed_by_client });
    expect(body).not.toHaveProperty('saysEnd');
  });

  test('makes replies that caches may keep vary by language', async () => {
    const app = await build();
    const { headers, body } = await app.send({ path: '/nowhere', headers: { 'accept-language': 'es' } });
    expect(body['userMessage']).toBe(VISITOR_MESSAGES.es.errors.NOT_FOUND);
    expect(headers).toMatchObject({ 'content-language': 'es', vary: 'Origin, Accept-Language' });
  });

  test('stays English for operators, because their pages are', async () => {
    const app = await build();
    const { headers, body } = await app.send({
      path: '/api/operator/overview',
      headers: { 'accept-language': 'de' },
    });
    expect(body['userMessage']).toBe(VISITOR_MESSAGES.en.errors.AUTH_REQUIRED);
    expect(headers['content-language']).toBe('en');
  });

  test('is not chosen if nothing is refused', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const { status, headers } = await heartbeat(app, id, 'de');
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('content-language');
  });
});
