import { OutboundFailure } from './contract.ts';

/** Requests in flight of this process. */
const MAX_IN_FLIGHT = 200;
/** Of these, requests of one owner to one host, so that a host that hangs does not take all of them. */
const MAX_IN_FLIGHT_PER_HOST = 50;
/** After so many failures in a row a host is tried now and then only, so that nobody waits for what does not answer. */
const FAILURES = 5;
const PAUSE_MS = 10_000;

interface Host {
  inFlight: number;
  failures: number;
  /** When the next may try, of a host that failed. */
  nextTryAtMs: number;
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
  begin(owner: string, hostname: string, atMs: number): (ending: Ending, atMs: number) => void {
    const key = `${owner} ${hostname}`;
    const host = this.#hosts.get(key) ?? { inFlight: 0, failures: 0, nextTryAtMs: 0 };
    if (this.#inFlight >= MAX_IN_FLIGHT || host.inFlight >= MAX_IN_FLIGHT_PER_HOST)
      throw new OutboundFailure('too_many');
    if (host.failures >= FAILURES) {
      if (atMs < host.nextTryAtMs) throw new OutboundFailure('unreachable', 'PAUSED');
      host.nextTryAtMs = atMs + PAUSE_MS;
    }
    this.#hosts.set(key, host);
    this.#inFlight += 1;
    host.inFlight += 1;
    return (ending, endedAtMs) => {
      this.#inFlight -= 1;
      host.inFlight -= 1;
      if (ending === 'answered') host.failures = 0;
      if (ending === 'failed') {
        host.failures += 1;
        host.nextTryAtMs = endedAtMs + PAUSE_MS;
      }
      if (host.inFlight === 0 && host.failures === 0) this.#hosts.delete(key);
    };
  }
}
