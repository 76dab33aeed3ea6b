import { keepNewest } from '../kernel/collections.ts';
import { OutboundFailure, PAUSED } from './contract.ts';

/** Requests in flight in this process. */
const MAX_IN_FLIGHT = 200;
/** Of these, requests of one owner to one host, so that a host that hangs does not use up all of them. */
const MAX_IN_FLIGHT_PER_HOST = 50;
/** Of these, requests of one session, so that no visitor can use up the host with slow requests. */
const MAX_IN_FLIGHT_PER_SESSION = 4;
/** After this many failures in a row a host is only tried now and then, so that callers do not wait for it in vain. */
const FAILURES = 5;
const PAUSE_MS = 10_000;
/** Sessions whose failures are remembered for a host: more than are needed to pause it for everybody. */
const MAX_FAILED_SESSIONS = 64;

interface Host {
  inFlight: number;
  /** Requests in flight by session: one session may not take all places of a host. */
  readonly inFlightOf: Map<string, number>;
  /** Failures by session since the host last answered anybody. */
  readonly failuresOf: Map<string, number>;
  /** When a failed host may be tried next. */
  nextTryAtMs: number;
}

/** Who sends a request, and where it goes. */
export interface SentRequest {
  readonly owner: string;
  readonly session: string;
  readonly hostname: string;
}

/** The result of a request: `failed` where the host could not be reached or did not answer in time, `unknown` where it was not contacted. */
export type RequestOutcome = 'answered' | 'failed' | 'unknown';

/** Tracks how many requests are in flight, and which hosts do not answer. */
export class Traffic {
  readonly #hosts = new Map<string, Host>();
  #inFlight = 0;

  /**
   * Admits one request.
   * @returns a function that must be called once the request has ended
   * @throws OutboundFailure `too_many`, or `unreachable` for a host that failed and is not tried at present
   */
  begin({ owner, session, hostname }: SentRequest, atMs: number): (ending: RequestOutcome, atMs: number) => void {
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
      // A time further ahead than any pause was set before the clock was set back.
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

/** A session whose requests make a host fail is blocked alone. Others may still try, until enough different sessions have failed. */
function isFailed({ failuresOf }: Host, session: string): boolean {
  return failuresOf.size >= FAILURES || (failuresOf.get(session) ?? 0) >= FAILURES;
}
