import { beforeEach, describe, expect, test } from 'vitest';
import { service, somebody, type TestApp } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { tickOf, watch } from '../features/feed/watching.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const { build } = useApps();

const emails = { OPERATOR_EMAILS: 'ops@example.com', VIEWER_EMAILS: '@support.example' };
const VIEWER = 'vera@support.example';
/** The admin of the tenant globex. */
const BOSS = 'boss@globex.example';

interface Listed {
  readonly id: string;
  readonly ref: string;
  readonly tenantId: string;
}

describe('In the operator API', () => {
  let app: TestApp;
  let acmes: string;
  let globexs: string;
  beforeEach(async () => {
    // Sessions reach their maximum duration before they go idle.
    app = await build({ env: { ...emails, MAX_SESSION_MINUTES: '4' } });
    acmes = await app.open(await app.key());
    globexs = await app.open(await app.key({ tenantId: 'globex' }));
  });

  const pathOf = (id: string): string => `/api/operator/sessions/${encodeURIComponent(id.slice(0, 42))}`;

  async function listed(headers: Record<string, string>, query = ''): Promise<readonly Listed[]> {
    const { body } = await app.get(`/api/operator/sessions?limit=200${query}`, headers);
    return body['sessions'] as Listed[];
  }

  test.each(['-startedAt', 'startedAt'])(
    'a viewer learns no more of an id by cursors of their own making (%s)',
    async (sort) => {
      const viewer = await app.as(VIEWER);
      const found = async (place: string) => {
        const parts = [app.clock.now(), place, ...(sort === 'startedAt' ? [sort] : [])];
        const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url');
        const refs = await listed(viewer, `&sort=${sort}&q=${encodeURIComponent(acmes.slice(0, 42))}&cursor=${cursor}`);
        return refs.length;
      };
      // No id has a smaller character than the first of these, or a larger one than the second.
      const ref = acmes.slice(0, 42);
      expect(await found(`${ref}-`)).toBe(await found(`${ref}z~`));
    },
  );

  test('a tenant’s admin finds no session of another tenant by its id, and ends those of that tenant', async () => {
    const boss = await app.as(BOSS);
    expect(await listed(boss, `&q=${encodeURIComponent(acmes)}`)).toEqual([]);
    expect((await app.post(`${pathOf(globexs)}/end`, {}, boss)).status).toBe(200);
  });

  test('a tenant’s admin never learns the name of a process by a frame', async () => {
    const key = await app.key({ tenantId: 'globex' });
    await app.create(key, {}, { origin: 'https://evil.example' });
    const watchers = [await watch(app, BOSS), await watch(app)];
    const frame = { type: 'watch', topics: ['refusals', 'nodes', 'sessions'], ref: globexs.slice(0, 42) };
    for (const watching of watchers) watching.say(frame);
    await app.post('/api/realtime/end', { sm_session_id: globexs });
    await app.create(key, {}, { origin: 'https://evil.example' });
    await app.service.journalWriter.flush();
    await app.service.journalWriter.flush();
    await tickOf(app.clock, app);
    const { body } = await app.get(`${pathOf(globexs)}/events`, service);
    const node = (body['events'] as { node: string }[])[0]?.node ?? '';
    expect(node).toHaveLength(22);
    const told = watchers.map(({ socket }) => JSON.stringify(socket.frames));
    expect(told.map((text) => text.includes('"type":"event"'))).toEqual([true, true]);
    expect(told.map((text) => text.includes(node))).toEqual([false, true]);
  });

  test('the overview shows a tenant’s admin that tenant and nothing of others', async () => {
    const overview = async (headers: Record<string, string>, tenantId: string) =>
      (await app.get(`/api/operator/overview?tenantId=${tenantId}`, headers)).body;
    const boss = await app.as(BOSS);
    const { asOf: _, ...own } = (await app.get('/api/operator/overview', boss)).body;
    expect(own).toMatchObject({ byTenant: { globex: expect.any(Number) }, verdict: null, nodes: [] });
    expect(await overview(service, 'globex')).toMatchObject(own);
    expect(await overview(boss, 'acme')).toMatchObject({ byTenant: {}, byState: { engaged: 0 }, nodes: [] });
  });

  test('any other login is refused, with a message about what grants a role', async () => {
    const reply = await app.get('/api/operator/sessions', await app.as(somebody()));
    expect(errorOf(reply)).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(reply.body['error']).toMatch(/OPERATOR_EMAILS.*VIEWER_EMAILS.*admins/);
  });
});

describe('Requests to the operator API', () => {
  const path = '/api/operator/sessions';

  test('count for the operator and not for the address, so that operators behind one address do not lock each other out', async () => {
    const env = { ...emails, RATE_IP_PER_MIN: '1', RATE_USER_PER_MIN: '1', RATE_OPERATOR_PER_MIN: '3' };
    const app = await build({ env });
    const [one, other] = [await app.login('ops@example.com'), await app.login(VIEWER)];
    const statuses = async (headers: Record<string, string>): Promise<number[]> => {
      const found: number[] = [];
      for (let n = 0; n < 4; n += 1) found.push((await app.get(path, headers)).status);
      return found;
    };
    expect(await statuses({ cookie: one })).toEqual([200, 200, 200, 429]);
    expect(await statuses({ cookie: other })).toEqual([200, 200, 200, 429]);
    expect(await statuses(service)).toEqual([200, 200, 200, 429]);
    const { headers } = await app.get(path, service);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
  });

  test('count for the address if the caller has no role, whatever credentials they send', async () => {
    const app = await build({ env: { ...emails, RATE_IP_PER_MIN: '2' } });
    const cookie = await app.login(somebody());
    const brought: Record<string, string>[] = [{ cookie }, { cookie: 'tenant_session=x' }, {}, { cookie }];
    const statuses: number[] = [];
    for (const headers of brought) statuses.push((await app.get(path, headers)).status);
    expect(statuses).toEqual([403, 401, 429, 429]);
  });

  test('do not count against an operator whose proxy asks for a password of its own', async () => {
    const app = await build({ env: emails });
    const headers = { cookie: await app.login('ops@example.com'), authorization: 'Basic dmlzaXRvcjpzZWNyZXQ=' };
    for (let n = 0; n < 12; n += 1) expect((await app.get(path, headers)).status).toBe(200);
  });

  test('with guessed service tokens are refused after a while, and then reveal nothing about a right one', async () => {
    const app = await build({ env: emails });
    for (let n = 0; n < 10; n += 1)
      expect((await app.get(path, { authorization: `Bearer guess-${n}` })).status).toBe(401);
    expect(errorOf(await app.get(path, service))).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    app.clock.advance(60 * SECOND);
    expect((await app.get(path, service)).status).toBe(200);
  });
});
