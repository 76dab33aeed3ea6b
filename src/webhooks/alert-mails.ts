import { type Clock, DAY_MS, HOUR_MS, SECOND_MS } from '../kernel/time.ts';
import { Unavailable } from '../kernel/errors.ts';
import { MailRefused, type Mailer } from '../mail/contract.ts';
import { alertMail, type Alert } from '../mail/templates/alert.ts';
import type { Counters } from '../stores/counters/contract.ts';
import { DEFERRED, type ClaimedMail, type Webhooks } from '../stores/webhooks/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { retryDelayMs } from './retry.ts';

/** Mails per hour about one tenant, to all its addresses together; the rest is combined into one mail per address at the end of the hour. */
const MAX_AN_HOUR = 20;
/** A mail that could not be sent for this long is no longer of use. */
const TRIED_FOR_MS = DAY_MS;
/** How long a node that dies keeps what it has claimed. */
const LEASE_MS = 60 * SECOND_MS;
/** How long before the end of its lease a mail must be started: the mailer gives up after eight seconds. */
const MAIL_MS = 10 * SECOND_MS;
/** Facts that are claimed at once for one address. */
const EACH = 1000;
/** While the mail server is away, how often one mail tries whether it is back. */
const AWAY_MS = 30 * SECOND_MS;

export interface AlertMailsDeps {
  readonly webhooks: Pick<Webhooks, 'claimMails' | 'finish' | 'release' | 'defer'>;
  readonly counters: Pick<Counters, 'take' | 'giveBack'>;
  /** Has a connection of its own, so that no login code waits for one. */
  readonly mailer: Pick<Mailer, 'prepare'>;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: Pick<Events, 'alertMailed'>;
  readonly onError: (error: unknown) => void;
}

/** Mails people about money and webhooks, one mail after another (docs/operations.md, Alerts by mail). */
export class AlertMails {
  readonly #deps: AlertMailsDeps;
  #isStopping = false;

  constructor(deps: AlertMailsDeps) {
    this.#deps = deps;
  }

  /** Sends what is due. @throws Unavailable when the database is away; what is claimed is due again once its lease ends */
  async tick(): Promise<void> {
    const { webhooks, clock } = this.#deps;
    if (this.#isStopping) return;
    const atMs = clock.now();
    const mails = mailsOf(await webhooks.claimMails(atMs, atMs + LEASE_MS, EACH));
    while (mails.length > 0) {
      const [mail = [], ...others] = mails;
      const untilMs = mail[0]?.untilMs ?? 0;
      if (this.#isStopping || clock.now() + MAIL_MS > untilMs) return webhooks.release(mails.flat(), clock.now());
      if (!(await this.#send(mail))) return webhooks.release(others.flat(), clock.now() + AWAY_MS);
      mails.shift();
    }
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** @returns false where the mail server is away */
  async #send(mail: readonly ClaimedMail[]): Promise<boolean> {
    const { webhooks, counters, mailer, publicUrl, clock, events, onError } = this.#deps;
    const [{ tenantId, to }] = mail as [ClaimedMail];
    const key = `alert-mails:${tenantId ?? ''}`;
    const taken = await counters.take(key, MAX_AN_HOUR, HOUR_MS, clock.now());
    if (!taken.allowed) {
      events.alertMailed('deferred');
      await webhooks.defer(mail, taken.retryAtMs);
      return true;
    }
    try {
      const alerts = mail.map(({ body }) => JSON.parse(body) as Alert);
      await (await mailer.prepare({ to, ...alertMail(alerts, publicUrl()) })).send();
    } catch (fault) {
      await counters.giveBack([{ key, windowStartMs: taken.windowStartMs }]);
      const isAway = fault instanceof Unavailable && !(fault instanceof MailRefused);
      // A mail that cannot be written must not hold up the others forever.
      if (!(fault instanceof Unavailable)) onError(fault);
      await Promise.all(mail.map((claim) => this.#fail(claim, !isAway)));
      return !isAway;
    }
    events.alertMailed('sent');
    const atMs = clock.now();
    const told = { state: 'delivered', nextAtMs: null, atMs, status: null, code: null, ms: 0 } as const;
    await Promise.all(mail.map((claim) => webhooks.finish(claim, { ...told, attempts: claim.attempts + 1 })));
    return true;
  }

  async #fail(claim: ClaimedMail, isFinal: boolean): Promise<void> {
    const { webhooks, clock, random, events } = this.#deps;
    const atMs = clock.now();
    const attempts = claim.attempts + 1;
    const delayMs = isFinal || atMs - claim.atMs >= TRIED_FOR_MS ? undefined : retryDelayMs(attempts, 0, random());
    const state = delayMs === undefined ? 'dead' : 'waiting';
    events.alertMailed(state === 'dead' ? 'dead' : 'failed');
    const code = claim.isDeferred && state === 'waiting' ? DEFERRED : isFinal ? 'refused' : 'unreachable';
    const nextAtMs = delayMs === undefined ? null : atMs + delayMs;
    await webhooks.finish(claim, { state, attempts, nextAtMs, atMs, status: null, code, ms: 0 });
  }
}

/** One mail for each fact and address; deferred facts are combined into one mail for each address and tenant. */
function mailsOf(claims: readonly ClaimedMail[]): ClaimedMail[][] {
  const mails = new Map<string, ClaimedMail[]>();
  for (const claim of claims) {
    const { to, tenantId, eventId, isDeferred } = claim;
    const name = isDeferred ? `${tenantId ?? ''} ${to}` : `${eventId} ${to}`;
    mails.set(name, [...(mails.get(name) ?? []), claim]);
  }
  return [...mails.values()];
}
