import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acme, embedded, siteKey, World } from '../support/world.ts';

const VISITORS = 5;
const REPORTS = 300;

interface Row {
  readonly id: string;
  readonly tokens: number;
  readonly dollars: number;
}

describe.each([
  ['PostgreSQL', {}],
  ['the embedded database', embedded],
])('The sums that operators see, on %s', (_, environment) => {
  let world: World;

  beforeAll(async () => {
    // A timezone in which it is about noon, so that no midnight falls into the test.
    const behind = new Date().getUTCHours() - 12;
    const QUOTA_TIMEZONE = `Etc/GMT${behind < 0 ? '' : '+'}${behind}`;
    world = await World.start(
      { ...environment, QUOTA_TIMEZONE, WIDGET_MAX_TOKENS_PER_MINUTE: '0', NODE_ENV: 'test' },
      acme,
    );
  });
  afterAll(() => world.close());

  test('equal the totals of the users, even after the server was killed amid reports', async () => {
    const visitor = world.visitor();
    const users = await Promise.all(
      Array.from({ length: VISITORS }, async (__, n) => {
        const email = `user${n}@example.com`;
        const { body } = await visitor.post('/api/session', { widgetKey: siteKey, email, agentId: 'support' });
        return { email, sm_session_id: String(body.sm_session_id) };
      }),
    );
    const total = async (user: (typeof users)[number]): Promise<Row> => {
      const { body } = await visitor.post('/api/auth/usage', { ...user, tokens: 0, dollars: 0 });
      const { tokens, dollars } = (body as unknown as { usage: Row }).usage;
      return { id: user.sm_session_id.slice(2, 34), tokens, dollars };
    };

    let answered = 0;
    let kill = (): void => {};
    const isTime = new Promise<void>((resolve) => {
      kill = resolve;
    });
    const reports = Array.from({ length: REPORTS }, async (__, n) => {
      await visitor.post('/api/auth/usage', { ...users[n % VISITORS], tokens: n + 1, dollars: 0.001 });
      answered += 1;
      if (answered === REPORTS / 3) kill();
    });
    const settled = Promise.allSettled(reports);
    await isTime;
    await world.restart('SIGKILL');
    await settled;

    const report = async (query: string) =>
      (await world.backend().get(`/api/operator/usage?${query}`)).body as unknown as {
        readonly rows: readonly Row[];
        readonly total: Omit<Row, 'id'>;
        readonly series: readonly Row[];
      };
    // Users for whom nothing was counted before the kill have no sum.
    const totals = (await Promise.all(users.map(total))).filter(({ tokens }) => tokens > 0);
    expect(totals.reduce((sum, { tokens }) => sum + tokens, 0)).toBeGreaterThan(REPORTS / 3);
    const bySubject = await report('by=subject');
    const byId = (rows: readonly Row[]) =>
      rows.map(({ id, tokens, dollars }) => ({ id, tokens, dollars })).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(bySubject.rows)).toEqual(byId(totals));
    for (const query of ['by=key', 'by=agent', 'by=tenant']) {
      for (const span of ['day', 'hour'])
        expect((await report(`${query}&span=${span}`)).total).toEqual(bySubject.total);
      const [row, ...others] = (await report(query)).rows;
      expect([{ tokens: row?.tokens, dollars: row?.dollars }, others]).toEqual([bySubject.total, []]);
    }
    expect((await report('by=session')).total).toEqual(bySubject.total);
  });
});
