import { describe, expect, test } from 'vitest';
import { version } from '../../config/build-info.ts';
import type { BusMessage } from '../../src/protocol/bus.ts';
import { service, SERVICE_NAME, SERVICE_TOKEN, somebody, STAFF, type Reply } from '../support/app.ts';
import { NOON } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf } from './app.ts';
import { closedCall } from './calls.ts';

const { build } = useApp({ env: STAFF });

const search = (q: string, headers: Record<string, string> = service): Promise<Reply> =>
  app.post('/api/operator/search', { q }, headers);

async function hitsOf(q: string, headers: Record<string, string> = service): Promise<readonly string[]> {
  const { status, body } = await search(q, headers);
  expect([status, body['error']]).toEqual([200, undefined]);
  return (body['hits'] as { kind: string; id: string }[]).map(({ kind, id }) => `${kind} ${id}`);
}

describe('A caller of the operator API is told', () => {
  test.each([
    ['ops@example.com', 'operator', '*', ['see', 'change', 'see-installation', 'change-installation']],
    ['vera@example.com', 'viewer', '*', ['see', 'see-installation']],
    ['boss@globex.example', 'tenant_admin', ['globex'], ['see', 'change']],
  ])('%s: their role, its tenants and what it may do', async (email, role, tenants, can) => {
    const { status, body } = await app.get('/api/operator/me', await app.as(email));
    const now = new Date(NOON).toISOString();
    const names = new Set((body['tenantNames'] as { id: string }[]).map(({ id }) => id));
    const shown = ['acme', 'globex'].filter((id) => tenants === '*' || tenants.includes(id));
    expect(['acme', 'globex'].filter((id) => names.has(id))).toEqual(shown);
    expect([status, body]).toMatchObject([200, { email, role, tenants, can, now, timeZone: 'UTC', version }]);
    expect(body['retention']).toMatchObject({ sessions: 0, usage: 400, events: 30, audit: 0 });
  });

  test('a service token: its name, and never itself', async () => {
    const { body, text } = await app.get('/api/operator/me', service);
    expect(body).toMatchObject({ email: SERVICE_NAME, role: 'service' });
    expect(text).not.toContain(SERVICE_TOKEN);
  });
});

describe('The settings show', () => {
  test('each variable with its value, what is set, and nothing that is secret', async () => {
    const url = 'https://user:hunter22@bots.example.com/verdict';
    const own = await build({
      env: { ...STAFF, MAX_SESSION_MINUTES: '7', BOT_VERDICT_URL: url, BOT_PROVIDER: 'http' },
    });
    const { status, body, text } = await own.get('/api/operator/settings', service);
    expect([status, body['differs']]).toEqual([200, []]);
    const settings = body['settings'] as { name: string }[];
    const named = (wanted: string) => settings.find(({ name }) => name === wanted);
    expect(named('MAX_SESSION_MINUTES')).toEqual({
      name: 'MAX_SESSION_MINUTES',
      value: '7',
      isSecret: false,
      isSet: true,
      default: '15',
    });
    expect(named('STALE_GRACE_SEC')).toMatchObject({ value: '3600', isSet: false });
    expect(named('SERVICE_TOKENS')).toMatchObject({ value: null, isSecret: true, isSet: true });
    expect(named('BOT_VERDICT_URL')).toMatchObject({ value: null, isSecret: true, isSet: true });
    for (const secret of [SERVICE_TOKEN, 'hunter22']) expect(text).not.toContain(secret);
  });

  test('which processes have other settings than the one that answers', async () => {
    const [one, other] = [await build({ env: STAFF }), await build({ env: { ...STAFF, MAX_SESSION_MINUTES: '7' } })];
    await one.service.presence.beat();
    const nodes = async (): Promise<unknown> => (await one.get('/api/operator/settings', service)).body['nodes'];
    expect(await nodes()).toEqual([{ id: expect.any(String), host: expect.any(String), isSame: true }]);
    const said: BusMessage[] = [];
    other.live.bus.subscribe((message) => said.push(message));
    await other.service.presence.beat();
    await expect.poll(() => said.length).toBe(1);
    for (const message of said) one.live.bus.publish(message);
    const differs = async (path: string) => (await one.get(`/api/operator/${path}`, service)).body['differs'];
    await expect.poll(() => differs('settings')).toEqual(['MAX_SESSION_MINUTES']);
    expect(await differs('nodes')).toEqual(['MAX_SESSION_MINUTES']);
    // Both started at the same instant, so they are in the order of their ids.
    expect(await nodes()).toEqual(
      expect.arrayContaining([true, false].map((isSame) => expect.objectContaining({ isSame }))),
    );
    expect(await nodes()).toHaveLength(2);
  });

  test.each([
    ['ops@example.com', 'ops@example.com,@staff.example', 'vera@example.com'],
    ['vera@example.com', 'o…@example.com,@staff.example', 'vera@example.com'],
  ])('%s e-mail addresses as the audit does', async (email, operators, viewers) => {
    const own = await build({ env: { ...STAFF, OPERATOR_EMAILS: 'ops@example.com, @staff.example' } });
    const { body, text } = await own.get('/api/operator/settings', { cookie: await own.login(email) });
    const settings = body['settings'] as { name: string; value: string | null }[];
    const valueOf = (wanted: string) => settings.find(({ name }) => name === wanted)?.value?.replaceAll(', ', ',');
    expect([valueOf('OPERATOR_EMAILS'), valueOf('VIEWER_EMAILS')]).toEqual([operators, viewers]);
    expect(text.includes('ops@example.com')).toBe(email === 'ops@example.com');
  });
});

describe('A search finds', () => {
  test('a session by its id, its ref, the start of its hash, and its request', async () => {
    const reply = await app.create(await app.key());
    const id = String(reply.body['sm_session_id']);
    await app.service.journalWriter.flush();
    const hit = `session ${id.slice(0, 42)}`;
    for (const q of [id, id.slice(0, 42), id.slice(2, 34), id.slice(2, 8), ` ${id.slice(2, 12)} `])
      expect(await hitsOf(q)).toContain(hit);
    const requestId = reply.headers['x-request-id'] ?? '';
    expect(await hitsOf(requestId)).toEqual(expect.arrayContaining([`request ${requestId}`, hit]));
    expect((await search(id)).text).not.toContain(id);
    expect(await hitsOf(id.slice(2, 7))).not.toContain(hit);
  });

  test('a session by the provider’s id', async () => {
    const record = await app.sessions.find(await app.open(await app.key()));
    if (record === undefined) throw new Error('opened just now');
    const id = `${record.id.slice(0, 35)}${'u'.repeat(22)}`;
    await app.service.stores.history.insert({ record: { ...record, id, upstreamId: 'sess_abc' }, state: 'engaged' });
    expect(await hitsOf('sess_abc')).toEqual([`session ${id.slice(0, 42)}`]);
    expect(await hitsOf('sess_abc', await app.as('boss@globex.example'))).toEqual([]);
  });

  test('a call by its ref, if it is of the caller’s tenant', async () => {
    const { service: parts } = app;
    const call = { ...closedCall(`s:${'a'.repeat(32)}:${'A'.repeat(22)}`), id: `call_${'B'.repeat(22)}` };
    await parts.stores.calls.insert(call, 1);
    const { body } = await search(call.id);
    expect(body['hits']).toEqual([
      { kind: 'call', id: call.id, label: expect.stringMatching(/^Call of acme, /), href: `/console/calls/${call.id}` },
    ]);
    expect(await hitsOf(`call_${'C'.repeat(22)}`)).toEqual([]);
    expect(await hitsOf(call.id, await app.as('boss@globex.example'))).toEqual([]);
  });

  test('keys, tenants and actions by part of their names, and acts by their batch', async () => {
    const { id, key } = await app.key();
    for (const q of [id, key, key.slice(0, -1).toUpperCase()]) expect(await hitsOf(q)).toContain(`key acme/${id}`);
    expect(await hitsOf('globe')).toContain('tenant globex');
    expect(await hitsOf('key.rev')).toEqual(['audit key.revoke']);
    const batchId = `batch_${'x'.repeat(22)}`;
    expect(await hitsOf(batchId)).toEqual([`audit ${batchId}`]);
    expect(await hitsOf('nothing of this name')).toEqual([]);
  });

  test('logins by their ids, for those who may see the installation', async () => {
    const cookie = await app.login(somebody());
    const { sessionId } = (await app.get('/api/auth/session', { cookie })).body as { sessionId: string };
    expect(await hitsOf(sessionId)).toEqual([`login ${sessionId}`]);
    expect(await hitsOf(sessionId, await app.as('vera@example.com'))).toEqual([`login ${sessionId}`]);
    expect(await hitsOf(sessionId, await app.as('boss@globex.example'))).toEqual([]);
  });

  test('of other tenants nothing', async () => {
    const { id } = await app.key();
    const session = await app.open(await app.key());
    const boss = await app.as('boss@globex.example');
    for (const q of [session, session.slice(2, 34), id, 'acme']) expect(await hitsOf(q, boss)).toEqual([]);
    expect(await hitsOf('globex', boss)).toContain('tenant globex');
  });

  test('everything about an e-mail address in all tenants, and records who searched for its hash, never the address', async () => {
    const email = somebody();
    const ids = [
      await app.open(await app.key(), { email }),
      await app.open(await app.key({ tenantId: 'globex' }), { email }),
    ];
    await app.login(email);
    const reply = await search(email.toUpperCase());
    const hits = (reply.body['hits'] as { kind: string; id: string }[]).map(({ kind, id }) => [kind, id]);
    expect(hits).toEqual(expect.arrayContaining(ids.map((id) => ['session', id.slice(0, 42)])));
    expect(hits.filter(([kind]) => kind === 'login')).toHaveLength(1);
    const audit = await app.get('/api/operator/audit?action=search.address&limit=1', service);
    expect(audit.body['rows']).toMatchObject([
      { actor: SERVICE_NAME, target: app.service.subjects.console(email), result: 'done', reason: null },
    ]);
    for (const text of [reply.text, audit.text, app.logged()]) expect(text.toLowerCase()).not.toContain(email);
    expect((await search('ada@')).body['hits']).toEqual([]);
  });

  test('what an e-mail address did as an operator, as a filter of the audit that has no address', async () => {
    const ops = await app.as('ops@example.com');
    await search('ada@example.com', ops);
    await search('ada@example.com');
    const { body, text } = await search('OPS@example.com');
    const found = (body['hits'] as { kind: string; href: string }[]).filter(({ kind }) => kind === 'audit');
    expect(found).toMatchObject([{ href: expect.stringMatching(/^\/console\/audit\?actorRef=[0-9a-f]{32}$/) }]);
    expect(text).not.toContain('ops@example.com');
    const { body: audit } = await app.get(`/api/operator/audit${found[0]?.href.replace(/^[^?]*/, '')}`, service);
    expect((audit['rows'] as { actor: string }[]).map(({ actor }) => actor)).toEqual(['ops@example.com']);
    expect(await hitsOf('ada@example.com')).toEqual([]);
  });

  test('no e-mail address for viewers and tenants’ admins, whose search is refused', async () => {
    for (const email of ['vera@example.com', 'boss@globex.example'])
      expect(errorOf(await search('ada@example.com', await app.as(email)))).toEqual({ status: 403, code: 'FORBIDDEN' });
  });
});
