/** How an exchange went on: answered, then read; or failed, and why. */
export interface Outcome {
  readonly answered: (status: number) => void;
  /** The reply, or why there is no more of it. */
  readonly read: (body: string) => void;
  readonly failed: (why: string) => void;
}

/** Something that goes over a socket, or happens to it. */
export interface Frame {
  readonly direction: 'out' | 'in' | 'note';
  readonly title: string;
  readonly body: string;
}

/** What everything that goes over the wire is told to. */
export interface WireLog {
  /** A request begins; `method` is WS for the opening of a socket. */
  readonly exchange: (method: string, path: string, body: string) => Outcome;
  readonly frame: (frame: Frame) => void;
}

/** The page's own fetch and WebSocket, which whatever runs on the page uses. */
export interface Wire {
  /** Posts as somebody else would: another tab, a back end. */
  readonly postAs: (who: string, path: string, body: object) => Promise<Response>;
  /** Cuts sockets and lets none open, as some networks do. */
  readonly block: (isBlocked: boolean) => void;
  /** Sends a text as it is on the socket that was opened last. @returns whether there is one */
  readonly sendRaw: (text: string) => boolean;
}

/** Whole and indented, where it is JSON. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
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

/** What the page's policy has refused. */
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
 * Puts itself before the page's `fetch` and `WebSocket`, and tells the log of all that goes through them from now on.
 * @param shown what the log shows of a text: without its secrets, or all of it
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
      // The browser tells the page of what its policy refuses after the refusal.
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
