import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';
import { browserFlags, findChromium } from './browser.ts';

interface Message {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** One tab of a browser window. */
export interface Tab {
  /** Evaluates an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Brings the tab to the front; the other tabs are then really hidden, with throttled timers. */
  readonly show: () => Promise<void>;
  /** Freezes or thaws the tab; a frozen tab runs no code at all. */
  readonly freeze: (isFrozen: boolean) => Promise<void>;
}

export interface Tabs {
  readonly open: (url: string) => Promise<Tab>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a browser without Playwright, which keeps every page visible: here tabs hide each other.
 * @throws ServiceMissing when Chromium is not installed
 */
export async function openTabs(): Promise<Tabs> {
  const profile = await mkdtemp(join(tmpdir(), 'switchboard-chromium-'));
  const program = [...browserFlags, '--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
  const child = spawn(findChromium(), [...program, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const address = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const found = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`the browser ended: ${output}`)));
  });
  const send = await connect(address);

  return {
    async open(url) {
      const { targetId } = await send('Target.createTarget', { url });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      const tab = (method: string, params: object): ReturnType<Send> => send(method, params, sessionId);
      return {
        async evaluate(expression) {
          const reply = await tab('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
          return (reply['result'] as { readonly value?: unknown }).value;
        },
        async show() {
          await send('Target.activateTarget', { targetId });
        },
        async freeze(isFrozen) {
          await tab('Page.setWebLifecycleState', { state: isFrozen ? 'frozen' : 'active' });
        },
      };
    },
    async close() {
      const ended = once(child, 'exit');
      kill();
      await ended;
      process.off('exit', kill);
      await rm(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

type Send = (method: string, params?: object, sessionId?: unknown) => Promise<Readonly<Record<string, unknown>>>;

/** Connects to Chromium's DevTools protocol; a request and its reply share an id. */
async function connect(address: string): Promise<Send> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    waiting.get(message.id ?? 0)?.(message);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let requests = 0;
  return (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      requests += 1;
      waiting.set(requests, ({ result, error }) =>
        error === undefined ? resolve(result ?? {}) : reject(new Error(error.message)),
      );
      socket.send(JSON.stringify({ id: requests, method, params, sessionId }));
    });
}
