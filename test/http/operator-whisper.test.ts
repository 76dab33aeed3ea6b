import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { whisperHash } from '../../src/operators/sessions/whisper.ts';
import type { AuditRow } from '../../src/protocol/operator/audit.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { service, STAFF, type Reply, type TestApp } from '../support/app.ts';
import { MINUTE } from '../support/clock.ts';
import { FakeBrokeredProvider } from '../support/fake-brokered-provider.ts';
import { answerSdp, offerSdp } from '../support/provider/sdp.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';
import { ANSWER, exchange, openBrokered } from './calls.ts';

const { build } = useApps();

const WORDS = 'offer the refund that nobody else may read about';

let app: TestApp;
let provider: FakeBrokeredProvider;
let key: WidgetKey;

beforeEach(async () => {
  provider = new FakeBrokeredProvider();
  provider.answerSdp = answerSdp(offerSdp({ channel: false }));
  app = await build({ brokered: provider, env: STAFF });
  key = await app.key({ dataChannel: 'none' });
});

const whisper = (id: string, body: object = { text: WORDS }, headers: Record<string, string> = service) =>
  app.post(`/api/operator/sessions/${encodeURIComponent(id)}/whisper`, body, headers);
const detailOf = async (id: string, headers: Record<string, string> = service): Promise<Reply['body']> =>
  (await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, headers)).body;
const told = (): readonly unknown[] => provider.sidebands.flatMap(({ asked }) => asked);

/** A session whose call is open and heard. */
async function call(by: WidgetKey = key): Promise<string> {
  const opened = await openBrokered(app, by);
  const { status, text } = await exchange(app, opened, { offer: offerSdp({ channel: by.dataChannel === 'open' }) });
  if (status !== 201) throw new Error(text);
  return opened.id;
}

describe('A whisper', () => {
  test('reaches the agent once, as a system message that it does not answer', async () => {
    const id = await call();
    expect(await whisper(id)).toMatchObject({ status: 200, body: { ok: true } });
    expect(told()).toEqual([
      { id: expect.stringMatching(/^sb_[\w-]{29}$/), type: 'message', role: 'system', text: WORDS },
    ]);
  });

  test('is recorded without its words, with who sent it and to which session', async () => {
    const id = await call();
    await whisper(id, undefined, await app.as('ops@example.com'));
    await whisper(id, { text: ` ${WORDS}`, to: WORDS });
    const audit = await app.get(`/api/operator/audit?target=${id.slice(0, 42)}`, service);
    expect(audit.body['rows']).toMatchObject([
      {
        action: 'session.whisper',
        actor: 'ops@example.com',
        target: id.slice(0, 42),
        tenantId: 'acme',
        result: 'done',
        reason: null,
        textHash: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ]);
    await app.service.journalWriter.flush();
    const [detail, refusals] = [await detailOf(id), await app.get('/api/operator/refusals', service)];
    const feed = JSON.stringify([audit.body, detail, refusals.body]);
    for (const text of [feed, app.logged()]) expect(text).not.toContain(WORDS);
  });

  test('leaves a hash that only the key can make, and that is another one each time', async () => {
    const id = await call();
    const { installationKey } = app.service.core;
    const [target, made] = [id.slice(0, 42), new Set<unknown>()];
    for (let n = 0; n < 2; n += 1) {
      app.clock.advance(1);
      await whisper(id, { text: 'yes' });
      const [row] = (await app.get(`/api/operator/audit?target=${target}`, service)).body['rows'] as AuditRow[];
      expect(row?.textHash).toBe(whisperHash(installationKey, target, app.clock.now(), 'yes'));
      for (const key of [installationKey, Buffer.alloc(32)])
        for (const text of ['yes', `${target} ${app.clock.now()} yes`])
          expect(row?.textHash).not.toBe(createHmac('sha256', key).update(text).digest('hex').slice(0, 32));
      expect(row?.textHash).not.toBe(whisperHash(installationKey, target, app.clock.now(), 'no'));
      made.add(row?.textHash);
    }
    expect(made.size).toBe(2);
  });

  test('is refused while no call is open, with a message about what to do, and never sent', async () => {
    const id = await app.open(key);
    expect(errorOf(await whisper(id))).toEqual({ status: 409, code: 'CONFLICT' });
    expect((await whisper(id)).body['error']).toMatch(/send it again once one is open/);
    const audit = await app.get(`/api/operator/audit?target=${id.slice(0, 42)}`, service);
    expect(audit.body['rows']).toEqual([]);
  });

  test('is refused if the page would see it, and if the page opens the call itself', async () => {
    provider.answerSdp = ANSWER;
    const open = await call(await app.key({ dataChannel: 'open' }));
    const direct = await app.open(await app.key({ call: 'direct' }));
    for (const id of [open, direct]) expect(errorOf(await whisper(id))).toEqual({ status: 409, code: 'CONFLICT' });
    expect((await whisper(open)).body['error']).toMatch(/data channel/);
    expect(told()).toEqual([]);
  });

  test('is refused if the provider accepts no text', async () => {
    const id = await call();
    provider.capabilities = { ...provider.capabilities, converses: false };
    expect(errorOf(await whisper(id))).toEqual({ status: 409, code: 'CONFLICT' });
    expect(told()).toEqual([]);
  });

  test('is refused once the session is over', async () => {
    const id = await call();
    await app.post('/api/realtime/end', { sm_session_id: id });
    expect(errorOf(await whisper(id))).toEqual({ status: 403, code: 'SESSION_DURATION_EXCEEDED' });
  });

  test('is limited to ten times a minute for each session, over all senders', async () => {
    const id = await call();
    const ops = await app.as('ops@example.com');
    for (let n = 0; n < 10; n += 1) expect((await whisper(id, undefined, n % 2 ? ops : service)).status).toBe(200);
    const refused = await whisper(id, undefined, ops);
    expect(errorOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect(refused.body['retryAfter']).toBeGreaterThan(0);
    app.clock.advance(MINUTE);
    expect((await whisper(id)).status).toBe(200);
    expect(told()).toHaveLength(11);
  });

  test('is for operators, and for a tenant’s admins if the tenant allows it, for its own sessions only', async () => {
    const globex = await app.key({ tenantId: 'globex', dataChannel: 'none' });
    const [own, other] = [await call(globex), await call()];
    const boss = await app.as('boss@globex.example');
    const vera = await app.as('vera@example.com');
    expect(errorOf(await whisper(own, undefined, boss))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(errorOf(await whisper(own, undefined, vera))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(errorOf(await whisper(own, undefined, {}))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    expect([(await detailOf(own, boss))['mayWhisper'], (await detailOf(own, vera))['mayWhisper']]).toEqual([
      false,
      false,
    ]);
    const tenants = await app.service.stores.tenants.all();
    const entry = tenants.find((tenant) => tenant.id === 'globex');
    if (entry === undefined) throw new Error('no globex');
    await app.service.stores.tenants.merge([{ ...entry, adminsMay: ['whisper'] }]);
    await app.service.directory.reload();
    expect((await detailOf(own, boss))['mayWhisper']).toBe(true);
    expect((await whisper(own, undefined, boss)).status).toBe(200);
    expect(errorOf(await whisper(other, undefined, boss))).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
    await app.service.stores.tenants.merge([{ ...entry, adminsMay: [] }]);
    await app.service.directory.reload();
  });

  test('that no process answers is undecided in the audit, and its sender is told so', async () => {
    const id = await call();
    vi.spyOn(app.service.calls.whispers, 'send').mockResolvedValue('unanswered');
    const reply = await whisper(id);
    expect(errorOf(reply)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(reply.body['error']).toMatch(/may or may not have been told/);
    const audit = await app.get(`/api/operator/audit?target=${id.slice(0, 42)}`, service);
    expect(audit.body['rows']).toMatchObject([{ action: 'session.whisper', result: null }]);
  });

  test('reaches nobody while the database is away, because it could not be recorded', async () => {
    const id = await call();
    vi.spyOn(app.service.stores.journal, 'append').mockRejectedValue(new Unavailable('database'));
    expect(errorOf(await whisper(id))).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(told()).toEqual([]);
  });
});
