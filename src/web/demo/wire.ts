/** Something that went over the wire. */
export interface WireEntry {
  readonly direction: 'out' | 'in' | 'note';
  readonly via: 'http' | 'socket';
  readonly title: string;
  /** What was sent, with its secrets masked. */
  readonly body: string;
}

/** Tells whatever is sent and received through its `fetch` and its `WebSocket`. */
export interface Wire {
  readonly fetch: typeof fetch;
  readonly WebSocket: typeof WebSocket;
  /** Posts as somebody else would: another tab, a back end. */
  readonly postAs: (who: string, path: string, body: object) => Promise<Response>;
  /** Cuts sockets and lets none open, as some networks do. */
  readonly block: (isBlocked: boolean) => void;
}

/** A session id opens the session and a client secret opens a call: neither belongs on a screen that is shared. */
function mask(text: string): string {
  return text
    .replaceAll(/\b(s:[0-9a-f]{4})[0-9a-f]+:[\w-]+/g, '$1…:••••')
    .replaceAll(/\bek_(local_)?[\w-]+/g, 'ek_$1••••');
}

function pretty(text: string): string {
  try {
    return mask(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return mask(text);
  }
}

function pathOf(input: RequestInfo | URL): string {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input, location.href);
  return origin === location.origin ? pathname : origin + pathname;
}

export function createWire(tell: (entry: WireEntry) => void): Wire {
  const open = new Set<WebSocket>();
  let isBlocked = false;

  async function request(input: RequestInfo | URL, init: RequestInit | undefined, by: string): Promise<Response> {
    const title = `${init?.method ?? 'GET'} ${pathOf(input)}${by}`;
    const body = typeof init?.body === 'string' ? init.body : '';
    tell({ direction: 'out', via: 'http', title, body: pretty(body) });
    const response = await fetch(input, init);
    const text = await response.clone().text();
    tell({ direction: 'in', via: 'http', title: `${response.status} ${title}`, body: pretty(text) });
    return response;
  }

  function frame(direction: 'out' | 'in', text: string): void {
    const { type, state } = JSON.parse(text) as { type?: string; state?: string };
    const title = [type, state].filter((part) => part !== undefined).join(' · ');
    tell({ direction, via: 'socket', title, body: pretty(text) });
  }

  class WatchedSocket extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      if (isBlocked) {
        tell({ direction: 'note', via: 'socket', title: 'blocked', body: 'This page lets no socket open.' });
        throw new Error('blocked by the visitor');
      }
      super(url, protocols);
      open.add(this);
      this.addEventListener('message', ({ data }) => frame('in', String(data)));
      this.addEventListener('close', ({ code, reason }) => {
        open.delete(this);
        tell({ direction: 'note', via: 'socket', title: `closed ${code}`, body: reason });
      });
    }

    override send(data: string): void {
      frame('out', data);
      super.send(data);
    }
  }

  return {
    fetch: (input, init) => request(input, init, ''),
    WebSocket: WatchedSocket,
    postAs(who, path, body) {
      const headers = { 'Content-Type': 'application/json' };
      return request(path, { method: 'POST', headers, body: JSON.stringify(body) }, ` (${who})`);
    },
    block(shouldBlock) {
      isBlocked = shouldBlock;
      if (isBlocked) for (const socket of open) socket.close();
    },
  };
}
