import { pretty } from '../shared/pretty.ts';

/** What happens to an exchange: it is answered and then read, or it fails. */
export interface Outcome {
  readonly answered: (status: number) => void;
  /** Takes the reply, or why the rest of it is missing. */
  readonly read: (body: string) => void;
  readonly failed: (why: string) => void;
}

/** Something that is sent over a socket, or happens to it. */
export interface Frame {
  readonly direction: 'out' | 'in' | 'note';
  readonly title: string;
  readonly body: string;
}

/** Receives everything that goes over the wire. */
export interface WireLog {
  /** A request begins; `method` is `WS` when a socket is opened. */
  readonly exchange: (method: string, path: string, body: string) => Outcome;
  readonly frame: (frame: Frame) => void;
}

/** Controls the page's `fetch` and `WebSocket`, which all code on the page uses. */
export interface Wire {
  /** Posts in the name of somebody else, such as another tab or a back end. */
  readonly postAs: (who: string, path: string, body: object) => Promise<Response>;
  /** Closes sockets and lets none open, as some networks do. */
  readonly block: (isBlocked: boolean) => void;
  /** Sends a text unchanged on the socket that was opened last. @returns whether there is an open one */
  readonly sendRaw: (text: string) => boolean;
}

function titleOf(text: string): string {
  try {
    const { type, state, event } = JSON.parse(text) as { type?: unknown; state?: unknown; event?: unknown };
    const words = [type, state ?? event].filter((part) => typeof part === 'string');
    return words.length > 0 ? words.join(' · ') : 'JSON';
  } catch {
    return 'no JSON';
  }
}

function pathOf(input: RequestInfo | URL): string {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input, location.href);
  return origin === location.origin.replace(/^http/, 'ws') || origin === location.origin ? pathname : origin + pathname;
}

/** The origins that the page's policy has refused. */
const refused = new Set<string>();
addEventListener('securitypolicyviolation', ({ blockedURI }) => refused.add(new URL(blockedURI, location.href).origin));

function reasonOf(error: unknown, input: RequestInfo | URL): string {
  const { name } = error as Error;
  if (name === 'TimeoutError') return 'No answer in time.';
  if (name === 'AbortError') return 'The page gave it up.';
  if (!navigator.onLine) return 'This browser has no network.';
  const { origin } = new URL(input instanceof Request ? input.url : input, location.href);
  return refused.has(origin)
    ? 'This page’s policy allows no request to there.'
    : 'Nobody answered, or the browser blocked it.';
}

/**
 * Wraps the page's `fetch` and `WebSocket`, and logs everything that goes through them from now on.
 * @param shown turns a text into what the log shows, for example without its secrets
 */
export function watchWire(log: WireLog, shown: (text: string) => string): Wire {
  const show = (text: string): string => shown(pretty(text));
  const { fetch: send, WebSocket: Socket } = globalThis;
  const open = new Set<WebSocket>();
  let isBlocked = false;

  async function request(input: RequestInfo | URL, init: RequestInit | undefined, by = ''): Promise<Response> {
    const body = typeof init?.body === 'string' ? init.body : '';
    const outcome = log.exchange(init?.method ?? 'GET', `${pathOf(input)}${by}`, show(body));
    try {
      const response = await send(input, init);
      outcome.answered(response.status);
      response
        .clone()
        .text()
        .then(
          (text) => outcome.read(show(text)),
          (error: unknown) => outcome.read(`Not read to its end. ${reasonOf(error, input)}`),
        );
      return response;
    } catch (error) {
      // The browser reports a refusal by the page's policy only after the request has failed.
      setTimeout(() => outcome.failed(reasonOf(error, input)));
      throw error;
    }
  }

  function frame(direction: 'out' | 'in', text: string): void {
    log.frame({ direction, title: titleOf(text), body: show(text) });
  }

  globalThis.fetch = (input, init) => request(input, init);
  globalThis.WebSocket = class extends Socket {
    constructor(url: string | URL, protocols?: string | string[]) {
      const opening = log.exchange('WS', pathOf(url), '');
      if (isBlocked) {
        opening.failed('You block sockets on this page.');
        throw new Error('blocked by the visitor');
      }
      super(url, protocols);
      open.add(this);
      let wasOpen = false;
      this.addEventListener('open', () => {
        wasOpen = true;
        opening.answered(101);
        opening.read('');
      });
      this.addEventListener('message', ({ data }) => frame('in', String(data)));
      this.addEventListener('close', ({ code, reason }) => {
        open.delete(this);
        if (wasOpen) log.frame({ direction: 'note', title: `closed ${code}`, body: reason });
        else opening.failed(navigator.onLine ? 'No socket opened.' : 'This browser has no network.');
      });
    }

    override send(data: string): void {
      frame('out', data);
      super.send(data);
    }
  };

  return {
    postAs(who, path, body) {
      const headers = { 'Content-Type': 'application/json' };
      return request(path, { method: 'POST', headers, body: JSON.stringify(body) }, ` (${who})`);
    },
    block(shouldBlock) {
      isBlocked = shouldBlock;
      if (isBlocked) for (const socket of open) socket.close();
    },
    sendRaw(text) {
      const socket = [...open].findLast(({ readyState }) => readyState === Socket.OPEN);
      socket?.send(text);
      return socket !== undefined;
    },
  };
}
