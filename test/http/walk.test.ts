import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { startApp } from '../../src/app/app.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { createLog } from '../../src/telemetry/log.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { OpenAiProvider } from '../../src/upstream/openai.ts';
import { service, STAFF, unique, type Reply, type TestApp } from '../support/app.ts';
import { TestProvider } from '../support/provider.ts';
import { offerSdp } from '../support/provider/sdp.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { freePort } from '../support/services/server-process.ts';
import { closeServers, serve, text } from '../support/transport-server.ts';
import { useApps } from '../support/use-apps.ts';
import { Walk } from '../support/walk.ts';
import { exchange, openBrokered, type Opened } from './calls.ts';

afterEach(closeServers);

/** Counts files of the whole product, from the first byte to the last. Justify a change that adds one; lower this if a change saves one. */
const MAX_FILES = 15;

/** The files that a heartbeat enters according to docs/architecture.md, section 8.1. */
const document = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
const [, section = ''] = /^### 8\.1 .*$([^]*?)^### /m.exec(document) ?? [];
const named = [...section.matchAll(/^\| `((?:machines|src)\/[\w./-]+)` \|/gm)].map(([, path = '']) => path).toSorted();
const isOfTransport = (path: string): boolean => path.startsWith('src/transport/');

function startWalk(): Walk {
  const walk = new Walk();
  onTestFinished(() => walk.close());
  return walk;
}

/** Sends heartbeats over one connection: work for a new connection is not part of the walk. */
async function beatOver(port: number, origin: string, sm_session_id: string): Promise<() => Promise<void>> {
  const client = await RawClient.connect(port);
  onTestFinished(() => client.destroy());
  const body = JSON.stringify({ sm_session_id, idleSec: 0 });
  const headers = ['Content-Type: application/json', `Origin: ${origin}`];
  return async () => {
    client.send(requestText('POST', '/api/realtime/heartbeat', headers, body));
    expect(await client.reply()).toMatchObject({ status: 200 });
  };
}

test(`The walk of a heartbeat in docs/architecture.md has at most ${MAX_FILES} files`, () => {
  expect(named.length).toBeLessThanOrEqual(MAX_FILES);
  expect(new Set(named).size).toBe(named.length);
});

// Runs before any service exists whose background work could be mistaken for the request's, and without the transport's timers.
test('A request to a transport enters exactly the transport files that the document names', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const walk = startWalk();
  const { port } = await serve(() => text('good'));
  const beat = await beatOver(port, 'http://localhost', 's');
  await beat();
  walk.restart();
  await beat();
  expect(walk.entered()).toEqual(named.filter(isOfTransport));
});

describe('An ordinary heartbeat of a widget to an embedded service', () => {
  const { build } = useApps();

  /** Answers two heartbeats. @returns the files that the second entered during the call that answers it, and that answer */
  async function walkOnce(): Promise<{ readonly entered: readonly string[]; readonly answer: unknown }> {
    const walk = startWalk();
    const app = await build();
    const key = await app.key();
    const id = await app.open(key);
    let last: { readonly entered: readonly string[]; readonly answer: unknown } | undefined;
    const { port } = await serve((request) => {
      walk.restart();
      const answer = app.service.handle(request);
      last = { entered: walk.entered(), answer };
      return answer;
    });
    // The first heartbeat does the work that is done only once, which is not part of the walk.
    const beat = await beatOver(port, key.origin, id);
    await beat();
    await beat();
    if (last === undefined) throw new Error('no heartbeat has reached the service');
    return last;
  }

  test('enters exactly the service files that the document names', async () => {
    const { entered } = await walkOnce();
    expect(entered).toEqual(named.filter((path) => !isOfTransport(path)));
  });

  test('is answered without a promise', async () => {
    const { answer } = await walkOnce();
    expect(answer).toMatchObject({ status: 200 });
  });
});

test('Once the service is ready, no composition code runs between it and the transport', async () => {
  const port = await freePort();
  const DATA_DIR = join(inject('runDirectory'), randomId());
  const app = await startApp(
    readConfig({ HOST: '127.0.0.1', PORT: String(port), DATA_DIR, UPSTREAM_PROVIDER: 'local' }),
    createLog('silent', false),
  );
  onTestFinished(() => app.close());
  const { key, origin } = app.demo?.key ?? { key: '', origin: '' };
  const created = await fetch(`http://127.0.0.1:${port}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ widgetKey: key, agentId: app.demo?.agentId }),
  });
  const { sm_session_id } = (await created.json()) as { readonly sm_session_id: string };
  const beat = await beatOver(port, origin, sm_session_id);
  const walk = startWalk();
  await beat();
  const entered = walk.entered();
  expect(entered).toContain('src/http/routes/heartbeat.ts');
  expect(entered).not.toContain('src/app/app.ts');
});

interface Story {
  readonly what: string;
  /** Of files of the whole product without its transport. */
  readonly max: number;
  /** Prepares what is asked, and returns the function that asks it and waits for its answer. */
  readonly prepare: () => Promise<() => Promise<unknown>>;
}

/** Work of the process itself, whatever is asked of it. */
const BACKGROUND: ReadonlySet<string> = new Set(['src/database/embedded/embedded.ts']);

/** A file is entered if any of its functions runs. */
describe('A service with brokered calls enters, with what is written after the answer,', () => {
  const { buildForFile } = useApps();
  let provider: TestProvider;
  let app: TestApp;
  let key: WidgetKey;

  beforeAll(async () => {
    // Nothing falls due beside what is asked: the directory, for one, is otherwise read again every few seconds.
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    provider = await TestProvider.start();
    const { apiKey, baseUrl } = provider;
    const brokered = new OpenAiProvider({ apiKey, baseUrl, timeoutMs: 5000, clientSecretTtlSec: 60 });
    app = await buildForFile({ env: { ...STAFF, CALL_MODE: 'brokered' }, brokered });
    key = await app.key({ limits: { sessionsPerMinute: 10_000, concurrentSessions: 10_000 } });
    await app.service.calls.held?.renewLease();
  });
  afterAll(async () => {
    vi.useRealTimers();
    await provider.close();
  });

  async function openCall(): Promise<Opened> {
    const opened = await openBrokered(app, key);
    expect(await offer(opened)).toMatchObject({ status: 201 });
    return opened;
  }

  function offer(opened: Opened): Promise<Reply> {
    return exchange(app, opened, { offer: offerSdp({ channel: true }) });
  }

  /** Ends a session, and resolves once the provider has the hang-up of its call. */
  async function endUntilHangUp({ id, origin }: Opened, call: TestProvider['lastCall']): Promise<void> {
    const hungUp = new Promise<void>((resolve) => (call.onHangUp = resolve));
    expect(await app.post('/api/realtime/end', { sm_session_id: id }, { origin })).toMatchObject({ status: 200 });
    await hungUp;
  }

  /** Resolves when nothing is under way or waits to be written. */
  async function settled(): Promise<void> {
    await app.service.calls.held?.settled();
    await app.flush();
    await app.service.journalWriter.flush();
  }

  /** Justify a change that adds a file; lower `max` if a change saves one. */
  const stories: readonly Story[] = [
    {
      what: 'a create',
      max: 49,
      prepare: async () => async () =>
        expect(await app.create(key, { agentId: 'support' })).toMatchObject({ status: 200 }),
    },
    {
      what: 'an end of many sessions by an operator',
      max: 55,
      prepare: async () => {
        const agentId = unique('agent');
        for (let n = 0; n < 2; n += 1) await openBrokered(app, key, { agentId });
        const body = { filter: { agentId }, expected: 2, reason: 'leaked' };
        return async () =>
          expect((await app.post('/api/operator/sessions/end', body, service)).body).toMatchObject({ ended: 2 });
      },
    },
    {
      what: 'a refusal',
      max: 31,
      prepare: async () => async () =>
        expect(await app.create({ ...key, key: 'w_acme_nobody_00' })).toMatchObject({ status: 401 }),
    },
    {
      what: 'an offer with a ticket',
      max: 94,
      prepare: async () => {
        const opened = await openBrokered(app, key);
        return async () => expect(await offer(opened)).toMatchObject({ status: 201 });
      },
    },
    {
      what: 'an end, with the hang-up of its call',
      max: 69,
      prepare: async () => {
        const opened = await openCall();
        const call = provider.lastCall;
        return () => endUntilHangUp(opened, call);
      },
    },
  ];

  test.each(stories.map((story) => [story.max, story.what, story.prepare] as const))(
    'at most %i files for %s',
    async (max, _, prepare) => {
      // The first time is not counted: it does work that is done only once.
      const first = await prepare();
      await first();
      const act = await prepare();
      await settled();
      const walk = startWalk();
      walk.restart();
      await act();
      // What is written after the answer counts, too: how much of it was done by then depends on how busy the machine is.
      await settled();
      const entered = walk.entered().filter((path) => !BACKGROUND.has(path));
      expect(entered.length, entered.join('\n')).toBeLessThanOrEqual(max);
    },
  );
});
