import { keepNewest } from '../kernel/keep-newest.ts';
import { OutboundFailure, PAUSED } from './contract.ts';

/** Requests in flight of this process. */
const MAX_IN_FLIGHT = 200;
/** Of these, requests of one owner to one host, so that a host that hangs does not take all of them. */
const MAX_IN_FLIGHT_PER_HOST = 50;
/** Of these, requests of one session, so that no visitor takes the host from the others by asking what takes long. */
const MAX_IN_FLIGHT_PER_SESSION = 4;
/** After so many failures in a row a host is tried now and then only, so that nobody waits for what does not answer. */
const FAILURES = 5;
const PAUSE_MS = 10_000;
/** Sessions whose failures are remembered of a host: more than it takes to pause it for all. */
const MAX_FAILED_SESSIONS = 64;

interface Host {
  inFlight: number;
  /** Sessions that have any, with how many: one may not take all places of a host. */
  readonly inFlightOf: Map<string, number>;
  /** By session, since the host answered anybody last. */
  readonly failuresOf: Map<string, number>;
  /** When the next may try, of a host that failed. */
  nextTryAtMs: number;
}

/** Whose request it is, and where it goes. */
export interface Sent {
  readonly owner: string;
  readonly session: string;
  readonly hostname: string;
}

/** What came of a request: `failed` where the host could not be reached or did not answer in time, `unknown` where nobody asked it. */
export type Ending = 'answered' | 'failed' | 'unknown';

/** How many requests are in flight, and which hosts do not answer. */
export class Traffic {
  readonly #hosts = new Map<string, Host>();
  #inFlight = 0;

  /**
   * Lets one request begin.
   * @returns what must be called once it has ended
   * @throws OutboundFailure `too_many`, or `unreachable` for a host that failed and is not tried now
   */
  begin({ owner, session, hostname }: Sent, atMs: number): (ending: Ending, atMs: number) => void {
    const key = `${owner} ${hostname}`;
    const host = this.#hosts.get(key) ?? newHost();
    const { inFlightOf, failuresOf } = host;
    const ofSession = inFlightOf.get(session) ?? 0;
    if (
      this.#inFlight >= MAX_IN_FLIGHT ||
      host.inFlight >= MAX_IN_FLIGHT_PER_HOST ||
      ofSession >= MAX_IN_FLIGHT_PER_SESSION
    )
      throw new OutboundFailure('too_many');
    if (isFailed(host, session)) {
      // One that is later than any pause was set before the clock was set back.
      if (atMs < host.nextTryAtMs && host.nextTryAtMs <= atMs + PAUSE_MS)
        throw new OutboundFailure('unreachable', PAUSED);
      host.nextTryAtMs = atMs + PAUSE_MS;
    }
    this.#hosts.set(key, host);
    this.#inFlight += 1;
    host.inFlight += 1;
    inFlightOf.set(session, ofSession + 1);
    return (ending, endedAtMs) => {
      this.#inFlight -= 1;
      host.inFlight -= 1;
      const others = (inFlightOf.get(session) ?? 1) - 1;
      if (others === 0) inFlightOf.delete(session);
      else inFlightOf.set(session, others);
      if (ending === 'answered') failuresOf.clear();
      if (ending === 'failed') {
        keepNewest(failuresOf.set(session, (failuresOf.get(session) ?? 0) + 1), MAX_FAILED_SESSIONS);
        host.nextTryAtMs = endedAtMs + PAUSE_MS;
      }
      if (host.inFlight === 0 && failuresOf.size === 0) this.#hosts.delete(key);
    };
  }
}

function newHost(): Host {
  return { inFlight: 0, inFlightOf: new Map(), failuresOf: new Map(), nextTryAtMs: 0 };
}

/** A session that makes a host fail by what it asks has failed alone: others still try, until it has failed as many of them. */
function isFailed({ failuresOf }: Host, session: string): boolean {
  return failuresOf.size >= FAILURES || (failuresOf.get(session) ?? 0) >= FAILURES;
}
