import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import { openai } from '@ai-sdk/openai';
import { Experimental_AbstractRealtimeSession as RealtimeSession, type Experimental_RealtimeState as State } from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { UpstreamFault } from '../../src/upstream/contract.ts';
import { SERVICE_TOKEN, type TestApp } from '../support/app.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();
const PAGE = 'https://shop.example';

let folder: string;
let route: (request: Request) => Promise<Response>;
let provider: FakeProvider;
let app: TestApp;
let socketsOfOpenAi: WebSocketServer;
let cookie: string;

/** The code of docs/widget.md, as it is printed. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchboard-ai-sdk-'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  const manual = await readFile('docs/widget.md', 'utf8');
  for (const [language, name] of [
    ['ts', 'route.ts'],
    ['tsx', 'page.tsx'],
  ] as const) {
    const [, code = ''] = new RegExp('```' + language + '\n(.*?)```', 's').exec(manual) ?? [];
    await writeFile(join(folder, name), code);
  }
  vi.stubEnv('SWITCHBOARD_TOKEN', SERVICE_TOKEN);
  ({ POST: route } = (await import(join(folder, 'route.ts'))) as { POST: typeof route });
});

beforeEach(async () => {
  provider = new FakeProvider();
  app = await build({ provider });
  await app.key();
  socketsOfOpenAi = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(socketsOfOpenAi, 'listening');
  cookie = '';
});

afterEach(() => {
  vi.unstubAllGlobals();
  socketsOfOpenAi.close();
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** The SDK's hook without React: its store adds no more than this to the SDK's class. */
class Hook extends RealtimeSession {
  protected override state: State = {
    status: 'disconnected',
    messages: [],
    events: [],
    isCapturing: false,
    isPlaying: false,
  };
  get status(): State['status'] {
    return this.state.status;
  }
  protected override setState<K extends keyof State>(key: K, value: State[K]): void {
    this.state = { ...this.state, [key]: value };
  }
}

/** A browser on the page, the page's back end and Switchboard; a local socket plays OpenAI. @returns the sockets that were opened */
function play(): [url: string, protocols: string[]][] {
  const dialled: [string, string[]][] = [];
  const { port } = socketsOfOpenAi.address() as AddressInfo;
  class Dialled extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(`ws://127.0.0.1:${port}`, protocols);
      dialled.push([url, protocols]);
    }
  }
  vi.stubGlobal('WebSocket', Dialled);
  vi.stubGlobal(
    'AudioContext',
    class {
      close() {
        return Promise.resolve();
      }
    },
  );
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    if (path.startsWith('/')) return ofPage(path, init);
    const { body, status } = await app.send({
      method: 'POST',
      path: new URL(path).pathname,
      headers: init.headers as Record<string, string>,
      body: JSON.parse(init.body as string) as object,
    });
    return Response.json(body, { status });
  });
  return dialled;
}

/** A request of the page to its own back end. */
async function ofPage(path: string, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers);
  if (cookie !== '') headers.set('cookie', cookie);
  const reply = await route(new Request(PAGE + path, { ...init, method: 'POST', headers }));
  cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? cookie;
  return reply;
}

test('The recipe for the AI SDK’s hook compiles as printed', () => {
  const compiler = resolve('node_modules/typescript/bin/tsc');
  const settings = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext'];
  const more = ['--moduleResolution', 'bundler', '--jsx', 'react-jsx', '--lib', 'es2022,dom', '--types', 'node'];
  const run = [compiler, ...settings, ...more, 'route.ts', 'page.tsx'];
  expect(execFileSync(process.execPath, run, { cwd: folder, encoding: 'utf8' })).toBe('');
});

test('With it the hook opens its socket at the provider with the secret of a session, whose page keeps it alive and ends it', async () => {
  const dialled = play();
  const heard: unknown[] = [];
  socketsOfOpenAi.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => heard.push((JSON.parse(data.toString()) as { type: string }).type));
    socket.send(JSON.stringify({ type: 'session.created', session: { id: 'sess_1' } }));
  });
  const errors: Error[] = [];
  const model = openai.experimental_realtime('gpt-realtime-2.1');
  const hook = new Hook({ model, api: { token: '/voice/setup' }, onError: (error) => void errors.push(error) });
  await hook.connect();
  expect(errors).toEqual([]);
  await expect.poll(() => [hook.status, heard]).toEqual(['connected', ['session.update']]);
  expect(dialled).toEqual([
    ['wss://api.openai.com/v1/realtime?model=gpt-realtime-2.1', ['realtime', 'openai-insecure-api-key.ek_fake_1']],
  ]);
  const id = cookie.replace('voice=', '');
  expect(await app.service.sessions.find(id)).toMatchObject({ tenantId: 'acme', agentId: 'support', endReason: null });
  expect((await ofPage('/voice/heartbeat')).status).toBe(200);
  expect((await ofPage('/voice/end')).status).toBe(200);
  expect((await ofPage('/voice/heartbeat')).status).toBe(403);
  hook.disconnect();
  expect([hook.status, errors]).toEqual(['disconnected', []]);
});

test('With it the hook reports the status of a refusal', async () => {
  provider.answer = () => Promise.reject(new UpstreamFault('refused', 'no more of these'));
  const dialled = play();
  const errors: string[] = [];
  const model = openai.experimental_realtime('gpt-realtime-2.1');
  const onError = ({ message }: Error) => void errors.push(message);
  await new Hook({ model, api: { token: '/voice/setup' }, onError }).connect();
  expect([errors, dialled, cookie]).toEqual([['Failed to fetch realtime setup: 502'], [], '']);
});
