import type { Trace } from '../actors/trace.ts';
import type { ChallengeRecord } from '../../machines/otp-challenge/types.ts';
import type { Mailer } from '../mail/contract.ts';
import type { Challenges } from '../stores/challenges/contract.ts';
import type { Counters } from '../stores/counters/contract.ts';
import type { LoginAddresses } from '../stores/login-addresses/contract.ts';
import type { GuessSpender } from './guess-budget.ts';
import type { Subjects } from './subjects.ts';

/** What login codes are bounded by. */
interface LoginCodeLimits {
  readonly expiryMinutes: number;
  /** Codes an hour per address (MAX_OTP_PER_HOUR). */
  readonly perHour: number;
  /** Attempts per code (MAX_OTP_VERIFY_ATTEMPTS). */
  readonly maxAttempts: number;
  /** Wrong codes a day at the addresses of a domain (MAX_OTP_FAILURES_PER_DAY). */
  readonly failuresPerDay: number;
  /** Mails an hour to addresses of a domain that nobody has logged in by (MAX_OTP_NEW_MAILS_PER_HOUR). */
  readonly newMailsPerHour: number;
}

/** Whose budget had nothing left, for a guess or for a mail. */
export type BudgetScope = GuessSpender | 'mails_domain' | 'mails_installation';

export interface LoginCodesDeps {
  readonly challenges: Challenges;
  readonly counters: Counters;
  readonly addresses: LoginAddresses;
  readonly mailer: Mailer;
  readonly subjects: Subjects;
  /** Codes are hashed with a key that is derived from it. */
  readonly installationKey: Buffer;
  readonly limits: LoginCodeLimits;
  /** Who may log in (CONSOLE_EMAILS): nobody else gets mail. */
  readonly admits: (email: string) => boolean;
  /** The service's own address, which the mail names; asked at each send, because a port may be known only later. */
  readonly publicUrl: () => string;
  /** Six digits; the default draws them by chance. */
  readonly newCode?: () => string;
  /** Hears of a mail that did not go out although its asker was told that it would, and of other faults that nobody waits for. */
  readonly onFault?: (error: unknown) => void;
  /** Hears of each guess and mail that a budget had nothing left for. */
  readonly onSpent?: (scope: BudgetScope, domain: string) => void;
  readonly trace?: Trace<ChallengeRecord> | undefined;
}

export interface CodeSent {
  readonly expiresInSec: number;
}
