/** Every field of a reply that tests look at; which of them are present depends on the endpoint. */
export interface ReplyBody {
  readonly ok?: boolean;
  readonly error?: string;
  readonly code?: string;
  readonly userMessage?: string;
  readonly retryAfter?: number;
  readonly reason?: string;
  readonly maxMinutes?: number;
  readonly id?: string;
  readonly sm_session_id?: string;
  readonly rating?: number | null;
  readonly client_secret?: { readonly value: string; readonly expires_at: number };
  readonly session?: Readonly<Record<string, unknown>>;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly email?: string;
  readonly sessionId?: string;
  readonly expiresIn?: number;
  readonly byState?: Readonly<Record<string, number>>;
  readonly sessions?: readonly ListedSession[];
}

/** A row of the list that operators see. */
export interface ListedSession {
  readonly id: string;
  readonly state: string;
  readonly endedAt: string | null;
  readonly endReason: string | null;
  readonly session: { readonly startedAt: string };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty when the reply is not JSON. */
  readonly body: ReplyBody;
}

type HeaderFields = Readonly<Record<string, string>>;

interface Send {
  readonly headers: HeaderFields;
  readonly method?: string;
  readonly body?: string;
}

/** An HTTP client with a cookie jar that collects everything that must never appear in a log. */
export class Client {
  /** The console cookie's value. */
  cookie: string | undefined;
  readonly #origin: () => string;
  readonly #headers: HeaderFields;
  readonly #confidential: Set<string>;

  /** @param origin where the service is now; a restart may move it */
  constructor(origin: () => string, confidential = new Set<string>(), headers: HeaderFields = {}) {
    this.#origin = origin;
    this.#confidential = confidential;
    this.#headers = headers;
  }

  get(path: string, headers: HeaderFields = {}): Promise<Reply> {
    return this.#send(path, { headers });
  }

  post(path: string, body: unknown = {}, headers: HeaderFields = {}): Promise<Reply> {
    const text = JSON.stringify(body);
    return this.#send(path, {
      method: 'POST',
      body: text,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  }

  patch(path: string, body: unknown): Promise<Reply> {
    const headers = { 'Content-Type': 'application/json' };
    return this.#send(path, { method: 'PATCH', body: JSON.stringify(body), headers });
  }

  delete(path: string): Promise<Reply> {
    return this.#send(path, { method: 'DELETE', headers: {} });
  }

  async #send(path: string, { headers, ...init }: Send): Promise<Reply> {
    const cookie: HeaderFields = this.cookie === undefined ? {} : { Cookie: `tenant_session=${this.cookie}` };
    const response = await fetch(`${this.#origin()}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...this.#headers, ...cookie, ...headers },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const body = isJson ? (JSON.parse(text) as ReplyBody) : {};
    this.#keep(response.headers, body);
    return { status: response.status, headers: response.headers, text, body };
  }

  #keep(headers: Headers, { sm_session_id, client_secret }: ReplyBody): void {
    const value = /^tenant_session=([^;]*)/.exec(headers.get('set-cookie') ?? '')?.[1];
    if (value !== undefined) this.cookie = value === '' ? undefined : value;
    for (const secret of [value, sm_session_id, client_secret?.value]) if (secret) this.#confidential.add(secret);
  }
}
