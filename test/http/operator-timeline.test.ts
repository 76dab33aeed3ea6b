import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { refOf, rowId } from '../../src/kernel/ids.ts';
import { NO_TOKENS } from '../../src/protocol/price.ts';
import { ABOUT, type About, type OperatorEvent } from '../../src/protocol/operator/event.ts';
import { newAct, type NewEntry } from '../../src/stores/journal/contract.ts';
import { noteWords } from '../../src/web/console/labels/notes.ts';
import { anEndpoint } from '../contracts/webhooks.ts';
import { service, STAFF, unique, type Reply, type TestApp } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { FakeBrokeredProvider } from '../support/fake-brokered-provider.ts';
import { answerSdp, offerSdp } from '../support/provider/sdp.ts';
import { soon } from '../support/soon.ts';
import { ToolServer } from '../support/tool-server.ts';
import { useApps } from '../support/use-apps.ts';
import { exchange, openBrokered, openedBy } from './calls.ts';

const { buildForFile } = useApps();

type Headers = Readonly<Record<string, string>>;
type Row = OperatorEvent & { readonly about: About };

const TOOL_ARGUMENTS = 'words-of-the-visitor';
const EMAIL = 'visitor@example.com';

let app: TestApp;
let server: ToolServer;
let tenantId: string;
/** Headers of the admin of the tenant whose sessions are read. */
let boss: Headers;
/** Headers of another tenant's admin. */
let foreigner: Headers;
let viewer: Headers;
/** A session with rows of every kind, and another of the same visitor. */
let id: string;
let otherId: string;
/** Webhooks of the tenant, of another tenant and of the installation. */
let endpoints: Readonly<Record<'own' | 'foreign' | 'installation', string>>;

/** Lets a second pass for the node that holds the calls. */
async function pass(): Promise<void> {
  app.clock.advance(SECOND);
  await app.service.heldCalls?.renewLease();
  await app.service.heldCalls?.tick();
  await app.service.heldCalls?.settled();
  await app.flush();
}

async function insertEndpoint(of: string | null): Promise<string> {
  const types = ['session.started', 'session.ended'];
  const endpoint = anEndpoint({ tenantId: of, types, url: `http://localhost:${server.port}/told` });
  await app.service.stores.webhooks.insert(endpoint, 9);
  return endpoint.id;
}

/** A refusal of a request of the same subject, as the journal has it for another tenant. */
function refusalElsewhere(subject: string): NewEntry<'refusal'> {
  return {
    id: rowId(),
    kind: 'refusal',
    atMs: app.clock.now(),
    node: 'one',
    requestId: 'req_foreign1',
    of: { tenantId: 'acme', keyId: 'foreign-key', subject },
    code: 'QUOTA_EXCEEDED',
    detail: { status: 402, layer: 'quota', route: 'POST /api/session', origin: null, addressHash: null, network: null },
  };
}

beforeAll(async () => {
  server = await ToolServer.start();
  const provider = new FakeBrokeredProvider();
  provider.answerSdp = answerSdp(offerSdp({ channel: false }));
  app = await buildForFile({ brokered: provider, env: { ...STAFF, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128' } });
  tenantId = unique('tenant');
  const tool = { kind: 'server_tool', name: 'lookup', url: `http://localhost:${server.port}/lookup`, headers: {} };
  const agent = { id: 'teller', model: 'gpt-realtime-2.1', instructions: 'Tell.', tools: [tool] };
  await app.service.stores.tenants.merge([
    { id: tenantId, name: 'T', agents: [agent] as never, admins: [`boss@${tenantId}.example`], keys: [] },
  ]);
  await app.service.directory.reload();
  const own = await insertEndpoint(tenantId);
  endpoints = { own, foreign: await insertEndpoint('acme'), installation: await insertEndpoint(null) };
  const key = await app.key({ tenantId, limits: { concurrentSessions: 2 } });
  const visitor = { agentId: 'teller', email: EMAIL };
  const session = await openBrokered(app, key, visitor);
  ({ id } = session);
  app.clock.advance(SECOND);
  expect((await exchange(app, session)).status).toBe(201);
  const { sideband } = provider;
  sideband.hear({
    type: 'usage',
    key: 'resp_of_provider',
    model: undefined,
    tokens: { ...NO_TOKENS, textIn: 100, audioOut: 40 },
  });
  app.clock.advance(SECOND);
  const asked = { callId: 'call_of_provider', name: 'lookup', arguments: `{"order":"${TOOL_ARGUMENTS}"}` };
  sideband.hear({ type: 'toolsAsked', responseId: 'resp_of_provider', calls: [asked] });
  const isAnswered = async () =>
    expect(await app.service.stores.toolCalls.ofSession(id)).toMatchObject([{ state: 'answered' }]);
  await vi.waitFor(isAnswered, soon);
  await app.service.metering.flush();
  // What a session's socket notes when it has warned.
  const warned = { kind: 'warned', detail: { limit: 'duration', secondsLeft: 60 } } as const;
  app.service.sessionNotes.take({ sessionId: id, tenantId, atMs: app.clock.now(), ...warned });
  app.clock.advance(SECOND);
  otherId = openedBy(await app.create(key, visitor), key.origin).id;
  app.clock.advance(SECOND);
  expect((await app.create(key, visitor)).status).toBe(429);
  const { subject } = (await app.sessions.find(id)) ?? { subject: '' };
  await app.service.stores.journal.append([
    refusalElsewhere(subject),
    newAct({
      atMs: app.clock.now(),
      actor: 'ops@example.com',
      role: 'operator',
      action: 'session.end',
      target: refOf(otherId),
      tenantId,
    }),
  ]);
  app.clock.advance(SECOND);
  const end = await app.post(
    `/api/operator/sessions/${refOf(id)}/end`,
    { reason: 'a test' },
    await app.as('ops@example.com'),
  );
  expect(end.status).toBe(200);
  for (let second = 0; second < 60; second += 1) {
    await pass();
    if ((await app.service.calls.ofSession(id)).every(({ state }) => state === 'closed')) break;
  }
  await app.service.webhooks.deliveries.tick();
  await app.service.webhooks.deliveries.settled();
  await app.service.journalWriter.flush();
  boss = await app.as(`boss@${tenantId}.example`);
  foreigner = await app.as('boss@globex.example');
  viewer = await app.as('vera@example.com');
});

afterAll(async () => {
  await server.close();
});

const read = (headers: Headers, query = `?about=${ABOUT.join()}&limit=200`, of = id): Promise<Reply> =>
  app.get(`/api/operator/sessions/${refOf(of)}/events${query}`, headers);

async function rows(headers: Headers, query?: string, of?: string): Promise<readonly Row[]> {
  const { status, text, body } = await read(headers, query, of);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return body['events'] as readonly Row[];
}

const refusals = (all: readonly Row[]) =>
  all.filter(({ about }) => about === 'refusal').map(({ requestId }) => requestId);

describe('Everything that happened to a session', () => {
  test('has rows of every kind, in words', async () => {
    const told = (await rows(service)).map((row) => `${row.about}: ${noteWords(row) ?? `${row.event}, ${row.to}`}`);
    const refused = 'refused with MAX_CONCURRENT_SESSIONS: 2 sessions were open already (limits.concurrentSessions).';
    expect(new Set(told)).toEqual(
      new Set([
        'session: OPEN, engaged',
        'webhook: webhook session.started: delivered, 200',
        'call: CREATE, creating',
        'call: CREATED, creating',
        'call: READY, open',
        'usage: response: 140 tokens, $0.003',
        'tool: tool lookup: answered in 0 ms',
        'warning: warned: maximum length in 60 s',
        'refusal: refused with QUOTA_EXCEEDED: The request was refused with QUOTA_EXCEEDED.',
        `refusal: ${refused}`,
        'operator: ops@example.com ended a session: a test',
        'session: END, ended',
        'webhook: webhook session.ended: delivered, 200',
        'call: CLOSE, closing',
        'call: HANGUP_ANSWERED, closing',
        'call: HANGUP_ANSWERED, closed',
      ]),
    );
  });

  test.each(ABOUT)('for %s is hidden from the admin of another tenant', async (about) => {
    for (const path of [refOf(id), id]) {
      const { status, body, text } = await app.get(
        `/api/operator/sessions/${encodeURIComponent(path)}/events?about=${about}`,
        foreigner,
      );
      expect([status, body['code']]).toEqual([404, 'SESSION_NOT_FOUND']);
      expect(text).not.toContain(tenantId);
    }
    expect((await rows(boss, `?about=${about}`)).length).toBeGreaterThan(0);
  });

  test('shows its tenant’s admin nothing of other tenants or the installation, and names nobody', async () => {
    const { text, body } = await read(boss);
    const all = body['events'] as readonly Row[];
    expect(new Set(all.map(({ about }) => about))).toEqual(new Set(ABOUT));
    expect(all.map(({ node }) => node)).toEqual(all.map(() => null));
    for (const hidden of [
      endpoints.foreign,
      endpoints.installation,
      'acme',
      'foreign-key',
      'req_foreign1',
      'ops@example.com',
    ])
      expect(text).not.toContain(hidden);
    expect(text).toContain('o…@example.com');
    expect(text).toContain(endpoints.own);
    const [whole, own] = [await rows(service), all];
    expect([refusals(whole).includes('req_foreign1'), refusals(own).length]).toEqual([true, 1]);
    const count = (shown: readonly Row[]) =>
      Object.fromEntries(ABOUT.map((one) => [one, shown.filter(({ about }) => about === one).length]));
    expect(body['counts']).toEqual(count(all));
    expect((await read(service)).body['counts']).toEqual(count(whole));
  });

  test('never contains a whole session id, a provider’s ids, a tool’s arguments or an e-mail address', async () => {
    for (const headers of [service, viewer, boss]) {
      const { text } = await read(headers);
      for (const secret of [
        id,
        otherId,
        'rtc_1',
        'call_of_provider',
        'resp_of_provider',
        TOOL_ARGUMENTS,
        EMAIL,
        'localhost',
      ])
        expect(text).not.toContain(secret);
    }
  });

  test('shows a viewer everything except e-mail addresses', async () => {
    const { text } = await read(viewer);
    expect(text).toContain(endpoints.installation);
    expect(text).toContain('req_foreign1');
    expect(text).not.toContain('ops@example.com');
    expect((await read(await app.as('ops@example.com'))).text).toContain('ops@example.com');
  });

  test('continues only in its own rows, even with a cursor of another session', async () => {
    const first = await read(boss, `?about=${ABOUT.join()}&limit=3`);
    const cursor = String(first.body['nextCursor']);
    const own = new Set((await rows(boss, undefined, otherId)).map((row) => `${row.about} ${row.id}`));
    const after = await rows(boss, `?about=${ABOUT.join()}&cursor=${cursor}`, otherId);
    for (const row of after) expect(own).toContain(`${row.about} ${row.id}`);
    expect((await read(foreigner, `?about=session&cursor=${cursor}`)).status).toBe(404);
  });

  test.each([[[9e15, 0, 0]], [[9e15, 99, 9e15]], [[9e15, -1, -1]], [[-1, 0, 0]], [[-9e15, 3, 9e15]], [[0, 0, 0]]])(
    'continues only in its own rows, even with the forged cursor %j',
    async (parts) => {
      const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url');
      const own = new Set((await rows(boss)).map((row) => `${row.about} ${row.id}`));
      const after = await rows(boss, `?about=${ABOUT.join()}&limit=200&cursor=${cursor}`);
      for (const row of after) expect(own).toContain(`${row.about} ${row.id}`);
      expect(after.length).toBe((parts[0] ?? 0) > 1e15 ? own.size : 0);
    },
  );

  test('counts refusals up to a maximum, and says that there may be more', async () => {
    expect((await read(service)).body['atLeast']).toEqual([]);
    const record = await app.sessions.find(id);
    const refusal = { ...refusalElsewhere(record?.subject ?? ''), atMs: record?.startedAtMs ?? 0 };
    const more = Array.from({ length: 200 }, (_, n) => ({ ...refusal, id: `many_${n}`, requestId: `req_many${n}` }));
    await app.service.stores.journal.append(more);
    const { body } = await read(service);
    expect(body['counts']).toMatchObject({ refusal: 200 });
    expect(body['atLeast']).toEqual(['refusal']);
    expect((await read(boss)).body['atLeast']).toEqual([]);
  });
});
