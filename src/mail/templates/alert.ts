import type { BudgetPeriod } from '../../protocol/budget.ts';

/** A fact that people are mailed about, with the data that webhooks get. */
export type Alert = { readonly timestamp: string } & (
  | { readonly type: 'budget.warned'; readonly data: BudgetAlert }
  | { readonly type: 'budget.exceeded'; readonly data: BudgetAlert }
  | { readonly type: 'webhook.failing'; readonly data: WebhookAlert }
  | { readonly type: 'webhook.disabled'; readonly data: WebhookAlert }
  | { readonly type: 'meter.drift'; readonly data: DriftAlert }
);

interface Amounts<Missing> {
  readonly tokens: number | Missing;
  readonly microDollars: number | Missing;
  /** Undefined for a budget that does not limit minutes. */
  readonly minutes?: number;
}

interface BudgetAlert {
  /** Null for the installation. */
  readonly tenantId: string | null;
  readonly budget: { readonly id: string; readonly of: string; readonly period: BudgetPeriod };
  readonly account: string;
  readonly percent: number;
  readonly used: Amounts<never>;
  readonly limit: Amounts<null>;
  readonly then: 'end' | 'refuse' | 'tell';
  /** When the period began; null for a session's own budget. It and `sessions` are undefined in alerts that an older build left waiting. */
  readonly since?: string | null;
  readonly resetAt: string | null;
  readonly projectedAt: string | null;
  /** Those that cost most since `sessionsSince`. */
  readonly sessions?: readonly { readonly ref: string; readonly microDollars: number }[];
  /** Later than `since` if there was too much to read. */
  readonly sessionsSince?: string | null;
}

interface WebhookAlert {
  readonly tenantId: string | null;
  readonly webhookId: string;
  readonly host: string;
  /** Null for an endpoint that fails and is only probed now and then. */
  readonly reason: string | null;
}

interface DriftAlert {
  readonly day: string;
  readonly upstream: string;
  readonly model: string | null;
  readonly microDollars: number;
  readonly classes: readonly { readonly class: string; readonly ours: number; readonly theirs: number }[];
}

/** Facts that one mail describes in full; of further ones it only gives the number. */
const MAX_TOLD = 50;

interface Words {
  readonly subject: string;
  readonly lines: readonly string[];
  /** The console page that shows it. */
  readonly page: string;
}

/**
 * A plain text mail about one fact, or about all facts that exceeded the hourly limit. Names were checked when they were created: ids
 * contain no line breaks.
 */
export function alertMail(
  alerts: readonly Alert[],
  publicUrl: string,
): { readonly subject: string; readonly text: string } {
  const told = alerts.slice(0, MAX_TOLD).map(alertWords);
  const [first] = told;
  const site = new URL(publicUrl).host;
  const pages = [...new Set(told.map(({ page }) => page))].map((page) => `  ${new URL(page, publicUrl).href}`);
  const more = alerts.length - told.length;
  const isOne = alerts.length === 1;
  const parts = [
    ...(isOne ? [] : [`In the last hour there was more to tell than ${site} mails one by one. These are the others:`]),
    ...told.map(({ subject, lines }) => [...(isOne ? [] : [subject]), ...lines].join('\n')),
    ...(more > 0 ? [`And ${more} more.`] : []),
    ['Look at it in the console:', ...pages].join('\n'),
    `Sent automatically by ${site}. Please do not reply.`,
  ];
  const subject = isOne && first !== undefined ? first.subject : `${alerts.length} more alerts of ${site}`;
  return { subject, text: `${parts.join('\n\n')}\n` };
}

function alertWords(alert: Alert): Words {
  if (alert.type === 'meter.drift') return driftWords(alert.data);
  if (alert.type === 'webhook.failing' || alert.type === 'webhook.disabled') return webhookWords(alert.data);
  return budgetWords(alert.data, alert.type === 'budget.exceeded');
}

const PERIODS: Readonly<Record<BudgetPeriod, string>> = {
  session: 'a session',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  once: 'once and for all',
};

const ENDS = {
  end: 'sessions are refused, and those that are open end',
  refuse: 'sessions are refused, and those that are open go on',
  tell: 'nothing: this budget only tells',
};

function budgetWords(data: BudgetAlert, isExceeded: boolean): Words {
  const { tenantId, budget, account, percent, used, limit, then, since, resetAt, projectedAt } = data;
  const name = `The budget "${budget.id}" of ${tenantId ?? 'the installation'}`;
  const subject = isExceeded ? `${name} is used up` : `${name} has reached ${percent} %`;
  const next = isExceeded ? 'What happens now' : 'When nothing is left';
  return {
    subject,
    page: '/console/budgets',
    lines: [
      `${subject}.`,
      '',
      ...(limit.microDollars === null ? [] : [`Used: ${dollars(used.microDollars)} of ${dollars(limit.microDollars)}`]),
      ...(limit.tokens === null ? [] : [`Used: ${count(used.tokens)} of ${count(limit.tokens)} tokens`]),
      ...(limit.minutes === undefined
        ? []
        : [`Used: ${count(used.minutes ?? 0)} of ${count(limit.minutes)} minutes of calls`]),
      `Counts: ${account}, ${PERIODS[budget.period]}${since == null ? '' : `, since ${time(since)}`}`,
      `Begins anew: ${resetAt === null ? 'never' : time(resetAt)}`,
      ...(projectedAt === null || isExceeded ? [] : [`Used up at the present pace: ${time(projectedAt)}`]),
      `${next}: ${ENDS[then]}`,
      ...dearestLines(data),
    ],
  };
}

function dearestLines({ since, sessions = [], sessionsSince }: BudgetAlert): readonly string[] {
  if (sessions.length === 0) return [];
  const when = sessionsSince == null || sessionsSince === since ? '' : ` since ${time(sessionsSince)}`;
  return [
    `Sessions that cost most${when}:`,
    ...sessions.map(({ ref, microDollars }) => `  ${ref}  ${dollars(microDollars)}`),
  ];
}

const DISABLED: Readonly<Record<string, string>> = {
  gone: 'Its server answered 410: it wants nothing any more.',
  failing: 'It has failed for five days.',
};

function webhookWords({ tenantId, webhookId, host, reason }: WebhookAlert): Words {
  const name = `The webhook at ${host} of ${tenantId ?? 'the installation'}`;
  const subject = reason === null ? `${name} fails` : `${name} is disabled`;
  const why =
    reason === null
      ? 'Five requests in a row failed. It is asked now and then until it answers again; what is to be told waits.'
      : `${DISABLED[reason] ?? ''} Nothing is sent until somebody enables it; what is to be told waits.`;
  return { subject, page: `/console/webhooks/${encodeURIComponent(webhookId)}`, lines: [`${subject}.`, '', why] };
}

function driftWords({ day, upstream, model, microDollars, classes }: DriftAlert): Words {
  const what = model === null ? 'in dollars' : `of ${model}`;
  const subject = `What was counted ${what} on ${day} is not what ${upstream} bills`;
  return {
    subject,
    page: '/console/usage',
    lines: [
      `${subject}.`,
      '',
      `Unexplained: ${dollars(microDollars)}`,
      ...classes.map(
        ({ class: name, ours, theirs }) => `${name}: counted ${count(ours)}, billed ${count(theirs)} tokens`,
      ),
      'Nothing is corrected by this. Where the provider counts more, look for calls whose hang-up is unconfirmed that day.',
    ],
  };
}

function dollars(microDollars: number): string {
  const amount = (microDollars / 1_000_000).toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1');
  const [whole = '', part = ''] = amount.split('.');
  return `$${count(Number(whole))}.${part}`;
}

function count(number: number): string {
  // No commas among decimals, which minutes have.
  return String(number).replace(/(?<!\.\d*)\B(?=(?:\d{3})+(?!\d))/g, ',');
}

function time(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
