import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { findKey, revokeKey } from '../../src/tenants/keys.ts';
import { service, type TestApp } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();

let app: TestApp;
beforeEach(async () => {
  app = await build({ env: { OPERATOR_EMAILS: 'ops@example.com' } });
});

const at = (ms: number): string => `${new Date(NOON + ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

async function whyOf(id: string): Promise<{ sentence: string; facts: readonly string[] }> {
  const { status, body } = await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service);
  expect(status).toBe(200);
  return body['why'] as { sentence: string; facts: readonly string[] };
}

describe('The detail of a session says why', () => {
  test('it is open, and what happens next', async () => {
    const id = await app.open(await app.key());
    const { sentence, facts } = await whyOf(id);
    expect(sentence).toContain(`Still open: it goes idle ${at(301 * SECOND)}`);
    expect(facts).toMatchObject([expect.stringContaining(`Opened ${at(0)}`)]);
  });

  test('the clock ended it, and how late that was noticed', async () => {
    const id = await app.open(await app.key());
    app.clock.advance(8000 * SECOND);
    await app.sweep();
    await app.service.journalWriter.flush();
    const { sentence, facts } = await whyOf(id);
    expect(sentence).toContain(`Ended ${at(7201 * SECOND)}, because nothing was heard for 2 h 0 min`);
    expect(facts.join()).toMatch(/found .* 13 min 19 s later, by CLOCK on node/);
  });

  test('an operator ended it, who that was, and with which reason', async () => {
    const id = await app.open(await app.key());
    const headers = await app.as('ops@example.com');
    await app.post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, { reason: 'abuse' }, headers);
    expect((await whyOf(id)).sentence).toContain('by ops@example.com, who wrote “abuse” (request req_');
  });

  test('its key was revoked, and by whom', async () => {
    const key = await app.key();
    const id = await app.open(key);
    const { tenants, journal: acts } = app.service.stores;
    const { clock, live } = app;
    await revokeKey(
      (await findKey('acme', key.id, { tenants })) as WidgetKey,
      { actor: 'cli', role: 'cli', reason: 'stolen' },
      { tenants, acts, clock, bus: live.bus },
    );
    await app.service.directory.reload();
    await expect.poll(async () => (await app.sessions.find(id))?.endReason).toBe('key_revoked');
    expect((await whyOf(id)).sentence).toContain(`acme/${key.id} was revoked by cli, who wrote “stolen”.`);
  });

  test('a console user’s day is used up, and does not show the total over all tenants to one tenant’s admin', async () => {
    app = await build({
      env: {
        OPERATOR_EMAILS: 'ops@example.com',
        CONSOLE_MAX_TOKENS_DAILY: '100',
        CONSOLE_MAX_CONCURRENT_SESSIONS: '2',
      },
    });
    const boss = await app.as('boss@globex.example');
    const open = async (tenantId: string): Promise<string> => {
      const { status, body, text } = await app.post('/api/session', { tenantId }, boss);
      if (status !== 200) throw new Error(text);
      return String(body['sm_session_id']);
    };
    const report = (id: string, tokens: number) =>
      app.post('/api/auth/usage', { sm_session_id: id, tokens, dollars: 0 }, service);
    await report(await open('acme'), 60);
    const id = await open('globex');
    await report(id, 47);
    expect((await whyOf(id)).sentence).toContain('the caller has used 107 of 100 tokens (CONSOLE_MAX_TOKENS_DAILY).');
    const { body } = await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, boss);
    expect(body['why']).toMatchObject({
      sentence: expect.stringContaining('the caller may use 100 tokens (CONSOLE_MAX_TOKENS_DAILY)'),
    });
    expect(JSON.stringify(body)).not.toMatch(/\b107\b/);
  });

  test('its usage exceeded a ceiling, which one, and what sets it', async () => {
    const key = await app.key({ limits: { dailyTokens: 10 }, totals: { dollarsDaily: 3 } });
    const id = await app.open(key);
    await app.post('/api/auth/usage', { sm_session_id: id, tokens: 11, dollars: 0.5 });
    const { sentence } = await whyOf(id);
    expect(sentence).toContain(
      'the caller has used 11 of 10 tokens (WIDGET_MAX_TOKENS_DAILY, or limits.dailyTokens of the key).',
    );
    expect(sentence).not.toContain('the widget key has');
  });
});
