import { FAILING_MS } from '../../machines/webhook-endpoint/selectors.ts';
import type { EndpointEvent, EndpointFact } from '../../machines/webhook-endpoint/types.ts';
import { BackgroundTasks, withTimeout, settleAll } from '../kernel/async.ts';
import { cacheFor } from '../kernel/collections.ts';
import { type Clock, SECOND_MS } from '../kernel/time.ts';
import { Unavailable } from '../kernel/errors.ts';
import { traceParentFor } from '../kernel/trace-context.ts';
import { signedHeaders } from './signature.ts';
import { OutboundFailure, type Outbound, type OutboundReply } from '../outbound/contract.ts';
import { LATE_REPORT_MS } from '../protocol/usage.ts';
import type { ClaimedDelivery, ClaimedEndpoint, Webhooks } from '../stores/webhooks/contract.ts';
import { WEBHOOK_SPAN } from '../telemetry/traces/session-spans.ts';
import type { Events } from '../telemetry/events.ts';
import type { EndpointHost } from './endpoint-host.ts';
import { LONGEST_MS, retryAfterMs, retryDelayMs } from './retry.ts';

const TIMEOUT_MS = 15 * SECOND_MS;
/** Bytes of a reply that are read at most; none of them are kept. */
const MAX_REPLY_BYTES = 4096;
/** How long a node that dies keeps what it has claimed. */
const LEASE_MS = 30 * SECOND_MS;
/** While there are no endpoints, how often to check whether there are any. */
const QUIET_MS = 2 * SECOND_MS;
const SETTLE_MS = SECOND_MS;
/** Requests to one endpoint at once. */
const LANES = 2;
/** Endpoints that are sent to at once, and failing ones among them that are probed. */
const MAX_BUSY = 48;
const MAX_PROBING = 16;
/** An endpoint is slow if it took longer than this to answer last. Of these only so many are sent to at once, so that others always have room. */
const SLOW_MS = 2 * SECOND_MS;
const MAX_SLOW = 16;
const EACH = 20;
/**
 * The pace at which an endpoint gets what it missed, from all nodes together: two at once and one more every 120 ms are never more than ten in a
 * second, and a node that looks every quarter of a second always finds room for two.
 */
const EACH_MISSED = 2;
const MISSED_EVERY_MS = 120;
/** The longest wait of a delivery, by the number of failed tries; at least the lease, because a claimed delivery waits too. */
const WAITS_MS = LONGEST_MS.map((ms) => Math.max(ms, LEASE_MS));
const SETTLED_AT_ONCE = 100;
const SETTLE_ROUNDS = 10;
/** How long secrets are cached: a new one signs within this time. */
const SECRETS_MS = 5 * SECOND_MS;
const MAX_SECRETS = 10_000;
/** How long a stop waits before it aborts requests under way. */
const STOP_MS = 3 * SECOND_MS;

export interface DeliveriesDeps {
  readonly webhooks: Webhooks;
  readonly host: EndpointHost;
  readonly outbound: Pick<Outbound, 'request'>;
  /** The secrets that sign for an endpoint, newest first. */
  readonly secretsOf: (endpoint: Pick<ClaimedEndpoint, 'tenantId' | 'id'>) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: Pick<Events, 'webhookSent' | 'webhookTurned'>;
  readonly onError: (error: unknown) => void;
}

/** The result of a request: a status, or why there is none. */
interface Answer extends Partial<Pick<OutboundReply, 'status' | 'retryAfter'>> {
  readonly code: string | null;
  /** Nothing was sent, so it does not count as a try. */
  readonly isUnsent?: boolean;
}

/**
 * Sends the webhook deliveries that this node has claimed (docs/contract.md, section 12.2). An endpoint that does not answer only gets
 * single probes, as machines/webhook-endpoint decides, and delays no other endpoint.
 */
export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #running: BackgroundTasks;
  readonly #breakOff = new AbortController();
  readonly #secrets = cacheFor<readonly string[]>(SECRETS_MS, MAX_SECRETS);
  /** Endpoints that this node is sending to, and those among them that it is probing. */
  readonly #busy = new Set<string>();
  readonly #probing = new Set<string>();
  /** Slow endpoints, those that were sent to longest ago first. */
  readonly #slow = new Set<string>();
  /** Endpoints that failed here since they last answered. */
  readonly #failed = new Set<string>();
  /** When it was found that there are no endpoints; undefined while there are. */
  #quietAtMs: number | undefined;
  #settledAtMs = -Infinity;
  /** When it last looked. The clock may have been set back since; Infinity, because that may have happened before this process began. */
  #lookedAtMs = Infinity;
  /** The look for due deliveries that is under way, and whether another was requested since it began. */
  #looking: Promise<void> | undefined;
  #isAsked = false;
  #isStopping = false;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
    this.#running = new BackgroundTasks((fault) => {
      // Claimed deliveries are due again once their lease ends.
      if (!(fault instanceof Unavailable)) deps.onError(fault);
    });
  }

  /** Starts sending what is due. Looks never overlap, because two at once would claim twice for one endpoint. @throws Unavailable */
  tick(): Promise<void> {
    this.#isAsked = true;
    this.#looking ??= this.#lookWhileAsked().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #lookWhileAsked(): Promise<void> {
    while (this.#isAsked && !this.#isStopping) {
      this.#isAsked = false;
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { webhooks, clock } = this.#deps;
    const atMs = clock.now();
    if (atMs < this.#lookedAtMs) await webhooks.hurry(atMs, WAITS_MS);
    this.#lookedAtMs = atMs;
    if (this.#quietAtMs !== undefined && Math.abs(atMs - this.#quietAtMs) < QUIET_MS) return;
    const busy = [...this.#busy];
    const maxEndpoints = Math.max(0, MAX_BUSY - busy.length + this.#probing.size);
    const most = { maxEndpoints, each: EACH, eachMissed: EACH_MISSED, missedEveryMs: MISSED_EVERY_MS };
    const passedOver = [...busy, ...this.#slowWithoutRoom()];
    const { hasEndpoints, claimed } = await webhooks.claim({
      atMs,
      untilMs: atMs + LEASE_MS,
      busy: passedOver,
      ...most,
    });
    this.#quietAtMs = hasEndpoints ? undefined : atMs;
    for (const endpoint of claimed) this.#begin(endpoint);
    if (!hasEndpoints || Math.abs(atMs - this.#settledAtMs) < SETTLE_MS) return;
    this.#settledAtMs = atMs;
    await this.#probe(atMs);
    for (let round = 0; round < SETTLE_ROUNDS; round += 1)
      if ((await webhooks.settle(atMs, atMs - LATE_REPORT_MS, SETTLED_AT_ONCE)) < SETTLED_AT_ONCE) return;
  }

  /** Slow endpoints that must wait, because enough of them are being sent to. */
  #slowWithoutRoom(): readonly string[] {
    const idle = [...this.#slow].filter((id) => !this.#busy.has(id));
    const room = MAX_SLOW - (this.#slow.size - idle.length);
    return idle.slice(Math.max(0, room));
  }

  /** Resolves when nothing is being sent. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  /** Starts nothing more, gives back what was not sent, and aborts requests that take too long. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await withTimeout(STOP_MS, this.settled());
    this.#breakOff.abort();
    await this.settled();
  }

  /** Sends one delivery to each failing endpoint that is due for a probe; only one of several nodes does so. */
  async #probe(atMs: number): Promise<void> {
    const { webhooks } = this.#deps;
    const room = MAX_PROBING - this.#probing.size;
    if (room <= 0) return;
    const untilMs = atMs + LEASE_MS;
    for (const id of await webhooks.probesDue(atMs, atMs - FAILING_MS, room)) {
      if (this.#busy.has(id)) continue;
      const facts = await this.#send(id, { type: 'PROBE', at: atMs, untilMs });
      if (!facts.some(({ type }) => type === 'webhook.probing')) continue;
      const endpoint = await webhooks.claimOne(id, atMs, untilMs);
      if (endpoint !== undefined) this.#begin(endpoint);
    }
  }

  #begin(endpoint: ClaimedEndpoint): void {
    const { id } = endpoint;
    this.#busy.add(id);
    if (endpoint.state === 'failing') this.#probing.add(id);
    if (this.#slow.delete(id)) this.#slow.add(id);
    const work = this.#sendAll(endpoint).finally(() => {
      this.#busy.delete(id);
      this.#probing.delete(id);
    });
    this.#running.start(work.then((hasMore) => (hasMore ? this.tick() : undefined)));
  }

  /**
   * Sends the claimed deliveries of an endpoint, several at once, until one fails; the rest is given back.
   * @returns whether more may be due
   */
  async #sendAll({ deliveries, ...endpoint }: ClaimedEndpoint): Promise<boolean> {
    const { webhooks, clock } = this.#deps;
    const waiting = [...deliveries];
    let isFailing = false;
    const lane = async (): Promise<void> => {
      // A delivery whose lease may end before its answer is left to other nodes.
      while (!isFailing && !this.#isStopping && clock.now() + TIMEOUT_MS <= (waiting[0]?.untilMs ?? -Infinity)) {
        const next = waiting.shift() as ClaimedDelivery;
        isFailing = !(await this.#sendOne(endpoint, next)) || isFailing;
      }
    };
    try {
      await settleAll(Array.from({ length: LANES }), lane);
    } finally {
      await webhooks.release(waiting, clock.now());
    }
    return !isFailing && deliveries.length >= EACH;
  }

  /** @returns whether it was delivered */
  async #sendOne(endpoint: Omit<ClaimedEndpoint, 'deliveries'>, claim: ClaimedDelivery): Promise<boolean> {
    const { webhooks, clock, random, events } = this.#deps;
    const { id } = endpoint;
    const sentAtMs = clock.now();
    const answer = await this.#ask(endpoint, claim, sentAtMs);
    const atMs = clock.now();
    if (answer.isUnsent) {
      await webhooks.release([claim], atMs + SECOND_MS);
      return false;
    }
    const { status = null, code, retryAfter } = answer;
    const attempts = claim.attempts + 1;
    const isDelivered = status !== null && status >= 200 && status < 300;
    const delayMs = isDelivered
      ? undefined
      : retryDelayMs(attempts, retryAfterMs(status ?? 0, retryAfter, atMs), random());
    const nextAtMs = delayMs === undefined ? null : atMs + delayMs;
    const state = isDelivered ? 'delivered' : nextAtMs === null ? 'dead' : 'waiting';
    const ms = Math.max(0, atMs - sentAtMs);
    if (ms <= SLOW_MS) this.#slow.delete(id);
    else this.#slow.add(id);
    events.webhookSent(isDelivered ? 'delivered' : (code ?? `status_${status}`), state === 'dead', atMs - claim.atMs);
    const noted = webhooks.finish(claim, { state, attempts, nextAtMs, atMs, status, code, ms });
    if (isDelivered) {
      // Saved while the next one is sent: otherwise an endpoint would get no more than one delivery per commit.
      this.#running.start(noted);
      if (this.#failed.delete(id) || endpoint.failures > 0 || endpoint.state !== 'healthy')
        await this.#send(id, { type: 'DELIVERED', at: atMs });
    } else {
      await noted;
      this.#failed.add(id);
      await this.#send(id, { type: status === 410 ? 'GONE' : 'FAILED', at: atMs });
    }
    return isDelivered;
  }

  /** Never rejects because of what the server does or fails to do. @throws Unavailable */
  async #ask(
    { id, tenantId, url }: Omit<ClaimedEndpoint, 'deliveries'>,
    { eventId, body, trace }: ClaimedDelivery,
    atMs: number,
  ): Promise<Answer> {
    const { outbound, secretsOf, onError } = this.#deps;
    try {
      const secrets = await this.#secrets(id, atMs, () => secretsOf({ id, tenantId }));
      const traceparent = traceParentFor(trace, WEBHOOK_SPAN, eventId, id);
      const { status, retryAfter } = await outbound.request({
        method: 'POST',
        url: new URL(url),
        owner: id,
        session: eventId,
        headers: { ...signedHeaders(eventId, body, secrets, atMs), ...(traceparent !== undefined && { traceparent }) },
        body,
        timeoutMs: TIMEOUT_MS,
        maxReplyBytes: MAX_REPLY_BYTES,
        isBodyIgnored: true,
        signal: this.#breakOff.signal,
      });
      return { status, code: null, retryAfter };
    } catch (fault) {
      if (fault instanceof Unavailable) throw fault;
      if (!(fault instanceof OutboundFailure)) onError(fault);
      const code = fault instanceof OutboundFailure ? fault.kind : 'unsigned';
      return { code, isUnsent: code === 'aborted' || code === 'too_many' };
    }
  }

  async #send(id: string, event: EndpointEvent): Promise<readonly EndpointFact[]> {
    const { host, events } = this.#deps;
    const facts = (await host.send(id, event))?.facts ?? [];
    for (const { type, ...about } of facts) if (type !== 'webhook.probing') events.webhookTurned(type, id, about);
    return facts;
  }
}
