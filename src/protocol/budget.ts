import { z } from 'zod';
import { email, MAX_TOLD } from './email.ts';
import { instant, inUnit, string, wanted } from './fields.ts';

const MAX_DOLLARS = 1_000_000_000;
const MAX_TOKENS = 1_000_000_000_000_000;
const MAX_MINUTES = 1_000_000_000;

export const BUDGET_PERIODS = ['session', 'day', 'week', 'month', 'once'] as const;

export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** What happens when the budget is used up: creates are refused and live sessions end; only creates are refused; or it is only reported. */
const BUDGET_ENDS = ['end', 'refuse', 'tell'] as const;

/** An amount that is stored in millionths. */
const amountOf = (what: string, most: number) =>
  z
    .number(wanted(what))
    .gt(0, 'must be more than 0')
    .max(most, `must be at most ${most}`)
    .refine((amount) => Number(amount.toFixed(6)) === amount, 'must have at most 6 decimals')
    .nullable();

const dollars = amountOf('an amount of dollars', MAX_DOLLARS).meta(
  inUnit('dollars', 2000, 'How much may be used in a period, with at most 6 decimals; null for no limit'),
);

const minutes = amountOf('a number of minutes', MAX_MINUTES).meta(
  inUnit(
    'minutes',
    600,
    'How long brokered calls may be connected in a period, added up over all calls; at most 6 decimals; null for no limit',
  ),
);

const tokens = z
  .int(wanted('a whole number of tokens'))
  .gt(0, 'must be more than 0')
  .max(MAX_TOKENS, `must be at most ${MAX_TOKENS}`)
  .nullable()
  .meta(inUnit('tokens', 3_000_000, 'How much may be used in a period, input and output together; null for no limit'));

const PERCENT = 'must be a whole percent from 1 to 100';

const warnAt = z
  .array(z.int(wanted('a whole percent from 1 to 100')).min(1, PERCENT).max(100, PERCENT), wanted('a list of percents'))
  .max(5, 'must have at most 5 entries')
  .refine((all) => all.every((one, at) => at === 0 || one > (all[at - 1] ?? 0)), 'must ascend')
  .meta({
    description: 'At most 5 thresholds, ascending: operators are told once in a period that each one is reached',
    'x-unit': 'percent',
    examples: [[50, 80, 95]],
  });

const then = z
  .enum(BUDGET_ENDS, wanted(BUDGET_ENDS.join(' or ')))
  .describe(
    'What happens when the budget is used up: `end` refuses creates and ends live sessions, `refuse` refuses creates and lets live sessions continue, `tell` only tells operators',
  );

/** What the field `of` of a stored budget may be. */
export const OF = /^(?:installation|tenant|user|(?:key|agent|user):[A-Za-z0-9._:-]{1,200})$/;

/** A calendar day in QUOTA_TIMEZONE. */
const calendarDay = z
  .string(wanted('a day such as 2030-01-31'))
  .refine((text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text), 'must be a day such as 2030-01-31')
  .meta({ examples: ['2030-01-31'] });

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

const tell = z
  .array(email, wanted('a list of e-mail addresses'))
  .max(MAX_TOLD, `must have at most ${MAX_TOLD} entries`)
  .refine((all) => new Set(all).size === all.length, 'must name each address once')
  .nullable()
  .meta({
    examples: [['finance@acme.example']],
    description:
      'At most 10 e-mail addresses that are mailed when a threshold is reached or the budget is used up; null means the tenant’s admins, or the operators for a budget of the installation; an empty list means nobody',
  });

/** The fields of a budget that can be changed later. */
const changeable = {
  dollars: dollars.default(null),
  tokens: tokens.default(null),
  minutes: minutes.default(null),
  warnAt: warnAt.default([80, 95]),
  then: then.default('end'),
  tell: tell.default(null),
};

const identity = {
  id: z
    .string(wanted('1 to 64 letters, digits, dots, hyphens and underscores'))
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores')
    .meta({ description: 'The id of the budget, unique in its tenant', examples: ['march'] }),
  of: z
    .string(wanted('installation, tenant, key:ID, agent:ID, user or user:SUBJECT'))
    .regex(OF, 'must be installation, tenant, key:ID, agent:ID, user or user:SUBJECT')
    .meta({
      description:
        'Whose usage counts: `installation`, `tenant`, `key:ID`, `agent:ID`, `user` (each user separately) or `user:SUBJECT`',
      examples: ['tenant', 'key:site'],
    }),
  period: z
    .enum(BUDGET_PERIODS, wanted(BUDGET_PERIODS.join(', ')))
    .describe(
      'The period after which counting starts again: a session, or a calendar day, week (ISO) or month in QUOTA_TIMEZONE; `once` never starts again',
    ),
  from: calendarDay
    .nullable()
    .default(null)
    .describe('Only with `once`: the first day that counts; by default the day on which the budget is created'),
};

/** The fields of a budget (docs/contract.md, section 3). A schema that extends them must also run `checkBudget`. */
export const budgetFields = { ...identity, ...changeable };

interface Amounts {
  readonly dollars: number | null;
  readonly tokens: number | null;
  readonly minutes: number | null;
}

/** The error for a budget that limits nothing. */
export const LIMITS_NOTHING = 'must be set, or tokens or minutes must';

/** Checks the rules that involve several fields of a budget. */
export function checkBudget(
  {
    dollars: most,
    tokens: count,
    minutes: time,
    period,
    from,
  }: Amounts & { readonly period: BudgetPeriod; readonly from: string | null },
  { addIssue }: { readonly addIssue: (issue: { code: 'custom'; path: string[]; message: string }) => void },
): void {
  if (most === null && count === null && time === null)
    addIssue({ code: 'custom', path: ['dollars'], message: LIMITS_NOTHING });
  if (from !== null && period !== 'once')
    addIssue({ code: 'custom', path: ['from'], message: 'must be left out: it is of budgets with period once alone' });
}

/** A budget as the tenants file defines it. */
export const budgetEntry = z
  .strictObject(budgetFields, wanted('an object with id, of and period'))
  .superRefine(checkBudget);

/** What may be used by whom in which period (docs/contract.md, section 3). */
export type BudgetTerms = Readonly<Omit<z.output<typeof budgetEntry>, 'warnAt' | 'tell'>> & {
  readonly warnAt: readonly number[];
  readonly tell: readonly string[] | null;
};

/** The changes that can be made to an existing budget. */
export const budgetChanges = z.object({
  dollars: dollars.optional(),
  tokens: tokens.optional(),
  minutes: minutes.optional(),
  warnAt: warnAt.optional(),
  then: then.optional(),
  tell: tell.optional(),
});

/** The budget that caused a refusal, and when its next period begins. */
export const budgetNamed = z.object({
  id: string('The id of the budget', 'march'),
  of: string('Whose usage counts', 'tenant', 'key:site'),
  period: z.enum(BUDGET_PERIODS).describe('The period after which counting starts again'),
  resetAt: instant
    .nullable()
    .describe('When the next period starts, so that a retry may succeed; null if there is none'),
});

export type BudgetNamed = z.infer<typeof budgetNamed>;

/** The id of the key, agent or user that a budget's `of` names; null if it names none of that kind. */
export function idOfBudget(of: string, kind: 'key' | 'agent' | 'user'): string | null {
  return of.startsWith(`${kind}:`) ? of.slice(kind.length + 1) : null;
}

/** The most budgets that one tenant, or the installation, may have. */
export const MAX_BUDGETS = 50;

/** Converts milliseconds to minutes, rounded to 6 decimals. */
export function minutesOf(ms: number): number {
  return Math.round((ms * 50) / 3) / 1_000_000;
}
