import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import type { ClusterNode } from '../../support/cluster.ts';
import type { ReplyBody } from '../../support/client.ts';
import type { About, Call, Entry, Journal, Outcome } from '../../support/journal.ts';
import type { Random } from './random.ts';

/** How long the client waits: a little longer than answers may take, so that the journal shows by how much they are late. */
export const PATIENCE_MS = {
  create: 6000,
  heartbeat: 2500,
  attach: 2500,
  end: 2500,
  usage: 2500,
  call: 6000,
  send: 6500,
  verify: 2500,
  check: 2500,
  logout: 2500,
} as const;

/** The calls that are HTTP requests. */
type HttpCall = Exclude<Call, 'attach' | 'revokeKey' | 'revokeLogin'>;

const paths: Readonly<Record<HttpCall, string>> = {
  create: '/api/session',
  heartbeat: '/api/realtime/heartbeat',
  end: '/api/realtime/end',
  usage: '/api/auth/usage',
  call: '/api/realtime/calls',
  send: '/api/auth/otp/send',
  verify: '/api/auth/otp/verify',
  check: '/api/auth/session',
  logout: '/api/auth/logout',
};

export interface Request {
  readonly call: HttpCall;
  /** A string is sent as it is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly about: About;
}

export interface Answer extends Entry {
  readonly body: ReplyBody;
  /** The new value of the login cookie. */
  readonly cookie: string | undefined;
}

/** All clients of a campaign: sends any request to any node, as a load balancer without sticky routing, and journals all of it. */
export class Caller {
  /** Set when the campaign is over; actors then stop. */
  isOver = false;
  readonly origins: readonly string[];
  readonly journal: Journal;
  readonly #pools: readonly Pool[];

  constructor(nodes: readonly ClusterNode[], journal: Journal) {
    // Idle connections are closed here before the node closes them after ten seconds.
    const options = { connections: 64, pipelining: 1, keepAliveTimeout: 4000, connect: { timeout: 1000 } };
    this.#pools = nodes.map(({ origin }) => new Pool(origin, options));
    this.origins = nodes.map(({ origin }) => origin);
    this.journal = journal;
  }

  /** Sends a request once, or, where a node refuses the connection, to another node, as load balancers do. */
  async send(request: Request, random: Random): Promise<Answer> {
    for (const node of random.shuffled(this.#pools.map((_, index) => index))) {
      const answer = await this.sendTo(node, request);
      if (answer.outcome !== 'refused') return answer;
    }
    await delay(100);
    return this.sendTo(random.between(0, this.#pools.length - 1), request);
  }

  async sendTo(node: number, { call, body, headers = {}, about }: Request): Promise<Answer> {
    const sentAt = Date.now();
    const done = (outcome: Outcome, body: ReplyBody, cookie?: string): Answer => {
      const { code, reason, sm_session_id } = body;
      const known = call === 'create' && sm_session_id !== undefined ? { ...about, session: sm_session_id } : about;
      const entry: Entry = { call, node, sentAt, doneAt: Date.now(), outcome, code, reason, about: known };
      this.journal.add(entry);
      return { ...entry, body, cookie };
    };
    try {
      const response = await (this.#pools[node] as Pool).request({
        method: body === undefined ? 'GET' : 'POST',
        path: paths[call],
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS[call]),
      });
      const text = await response.body.text();
      const cookie = /tenant_session=([^;]*)/.exec(String(response.headers['set-cookie'] ?? ''))?.[1];
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      return done(response.statusCode, isJson ? (JSON.parse(text) as ReplyBody) : {}, cookie);
    } catch (error) {
      return done(failureOf(error), {});
    }
  }

  /** Resolves after the pause, or at once when the campaign is over. */
  async pause(ms: number): Promise<void> {
    for (let left = ms; left > 0 && !this.isOver; left -= 100) await delay(Math.min(left, 100));
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }
}

function failureOf(error: unknown): Outcome {
  const { name, code } = error as { name?: string; code?: string };
  if (code === 'ECONNREFUSED') return 'refused';
  return name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timeout' : 'broken';
}
