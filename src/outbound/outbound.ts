import { lookup as systemLookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { SocketAddress, isIP, type LookupFunction, type Socket } from 'node:net';
import type { ValuesOf } from '../../config/variable.ts';
import { cacheFor } from '../kernel/collections.ts';
import type { Clock } from '../kernel/time.ts';
import type { deadline } from '../kernel/async.ts';
import { systemCode } from '../kernel/post.ts';
import { holds, isPublicAddress } from './addresses.ts';
import { OutboundFailure, type Outbound, type OutboundReply, type OutboundRequest } from './contract.ts';
import { Traffic, type RequestOutcome } from './traffic.ts';
import type { outbound } from './variables.ts';
import { findUrlFault, isUsual, urlRuleOf } from '../kernel/addresses.ts';

type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface OutboundOptions extends ValuesOf<typeof outbound> {
  readonly clock: Clock;
  readonly after: typeof deadline;
  /** Resolves a name to all its addresses; by default the system's resolver. */
  readonly resolve?: Resolve | undefined;
  /** Certificate authorities that are trusted instead of Node's own. */
  readonly ca?: string | undefined;
}

/** Shorter than most servers keep a connection, so that a request rarely uses one that is being closed. */
const IDLE_MS = 4000;
/** How long resolved addresses are reused, so that visitors need not wait for a name server on most tool calls. */
const RESOLVED_MS = 5000;
const MAX_NAMES = 1000;
/** How long `check` may take. */
const CHECK_MS = 3000;

/**
 * Sends requests to servers that tenants named. All addresses of a name are vetted, and the connection goes to a vetted one, because a
 * name that is resolved again could lead elsewhere. Redirects are not followed, and proxies from the environment are not used.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const { allowCidrs: own, clock, after, resolve = resolveBySystem, ca } = options;
  const rule = urlRuleOf(options);
  const traffic = new Traffic();
  // `Traffic` limits connections instead of the agent, in which a request could time out before it is sent.
  const agentOptions = { keepAlive: true, timeout: IDLE_MS };
  const https = new HttpsAgent({ ...agentOptions, ...(ca === undefined ? {} : { ca }) });
  const http = new HttpAgent(agentOptions);
  /** One query at a time for each name: the system's resolver has few threads, and one slow name server must not use them all. */
  const asking = new Map<string, Promise<readonly string[]>>();
  const resolved = cacheFor<readonly string[]>(RESOLVED_MS, MAX_NAMES);

  function ask(hostname: string): Promise<readonly string[]> {
    const asked = asking.get(hostname);
    if (asked !== undefined) return asked;
    const answer = addressesOf(hostname, resolve).finally(() => asking.delete(hostname));
    asking.set(hostname, answer);
    return answer;
  }

  function isAllowed(url: URL, address: string): boolean {
    return holds(own, address) || (isUsual(url, rule.ports) && isPublicAddress(address));
  }

  /** The addresses of the name. @throws OutboundFailure if it has none, or a forbidden one */
  async function vet(url: URL): Promise<readonly string[]> {
    const addresses = await resolved(url.hostname, clock.now(), () => ask(url.hostname));
    if (!addresses.every((address) => isAllowed(url, address))) throw new OutboundFailure('forbidden');
    return addresses;
  }

  function send(request: OutboundRequest, addresses: readonly string[]): ClientRequest {
    const { url, method, body } = request;
    const headers = { 'accept-encoding': 'identity', ...request.headers, ...lengthOf(body) };
    const common = { method, headers, lookup: lookupOf(addresses) };
    const sent =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...common, agent: https })
        : httpRequest(url, { ...common, agent: http });
    const check = (socket: Socket): void => {
      if (!isVetted(socket.remoteAddress)) sent.destroy(new OutboundFailure('forbidden'));
    };
    // A reused connection was vetted against the addresses that its name had then.
    const isVetted = (address: string | undefined): boolean =>
      address !== undefined && (sent.reusedSocket ? isAllowed(url, address) : addresses.some(isSame(address)));
    sent.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => check(socket));
      else check(socket);
    });
    return sent;
  }

  async function exchange(request: OutboundRequest): Promise<OutboundReply> {
    const { url, timeoutMs, signal } = request;
    let stop = (_kind: 'timed_out' | 'aborted'): void => undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = (kind) => reject(new OutboundFailure(kind));
    });
    stopped.catch(() => undefined);
    const abort = (): void => stop('aborted');
    const callOff = after(timeoutMs, () => stop('timed_out'));
    signal?.addEventListener('abort', abort);
    let sent: ClientRequest | undefined;
    try {
      if (signal?.aborted === true) throw new OutboundFailure('aborted');
      const addresses = await Promise.race([vet(url), stopped]);
      sent = send(request, addresses);
      return await Promise.race([replyTo(sent, request), stopped]);
    } catch (error) {
      sent?.destroy();
      throw error;
    } finally {
      callOff();
      signal?.removeEventListener('abort', abort);
    }
  }

  return {
    async request(request) {
      const { url, owner, session } = request;
      if (findUrlFault(url.href, rule) !== undefined) throw new OutboundFailure('forbidden');
      const end = traffic.begin({ owner, session, hostname: url.hostname }, clock.now());
      let ending: RequestOutcome = 'unknown';
      try {
        const reply = await exchange(request);
        ending = 'answered';
        return reply;
      } catch (error) {
        ending = endingOf(error);
        throw error;
      } finally {
        end(ending, clock.now());
      }
    },

    async check(url) {
      if (findUrlFault(url.href, rule) !== undefined) throw new OutboundFailure('forbidden');
      let callOff = (): void => undefined;
      const late = new Promise<never>((_, reject) => {
        callOff = after(CHECK_MS, () => reject(new OutboundFailure('timed_out')));
      });
      await Promise.race([vet(url), late]).finally(callOff);
    },

    close() {
      https.destroy();
      http.destroy();
    },
  };
}

function endingOf(error: unknown): RequestOutcome {
  if (!(error instanceof OutboundFailure)) return 'unknown';
  if (error.kind === 'too_large') return 'answered';
  return error.kind === 'unreachable' || error.kind === 'timed_out' ? 'failed' : 'unknown';
}

function replyTo(
  sent: ClientRequest,
  { body, maxReplyBytes, isBodyIgnored = false }: OutboundRequest,
): Promise<OutboundReply> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(error instanceof OutboundFailure ? error : new OutboundFailure('unreachable', systemCode(error)));
    };
    sent.on('error', fail);
    sent.once('response', (reply: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const answer = (): void =>
        resolve({
          status: reply.statusCode ?? 0,
          contentType: reply.headers['content-type'],
          retryAfter: reply.headers['retry-after'],
          body: Buffer.concat(chunks),
        });
      reply.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes <= maxReplyBytes) {
          chunks.push(chunk);
          return;
        }
        if (isBodyIgnored) answer();
        sent.destroy(new OutboundFailure('too_large'));
      });
      reply.on('error', fail);
      reply.once('end', answer);
    });
    sent.end(body);
  });
}

function lengthOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
}

/** Returns the vetted addresses, whatever the name resolves to by now. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all: wantsAll }, callback) => {
    const [first] = all;
    if (wantsAll === true) callback(null, all);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/** Compares normalized addresses, because one address can be written in several ways. */
function isSame(address: string): (other: string) => boolean {
  const wanted = normal(address);
  return (other) => normal(other) === wanted;
}

function normal(address: string): string {
  return new SocketAddress({ address, family: isIP(address) === 6 ? 'ipv6' : 'ipv4' }).address;
}

/** @throws OutboundFailure if there are none */
async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(hostname);
  } catch (error) {
    throw new OutboundFailure('unreachable', systemCode(error));
  }
  if (addresses.length === 0) throw new OutboundFailure('unreachable', 'ENOTFOUND');
  return addresses;
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await systemLookup(hostname, { all: true });
  return found.map(({ address }) => address);
}
