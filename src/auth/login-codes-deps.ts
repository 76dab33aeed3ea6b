import type { Trace } from '../actors/trace.ts';
import type { ChallengeRecord } from '../../machines/otp-challenge/types.ts';
import type { Mailer } from '../mail/contract.ts';
import type { Challenges } from '../stores/challenges/contract.ts';
import type { Counters } from '../stores/counters/contract.ts';
import type { LoginAddresses } from '../stores/login-addresses/contract.ts';
import type { GuessSpender } from './wrong-codes.ts';
import type { Subjects } from './subjects.ts';

/** The limits on login codes. */
interface LoginCodeLimits {
  readonly expiryMinutes: number;
  /** Codes per hour for each address (MAX_OTP_PER_HOUR). */
  readonly perHour: number;
  /** Attempts per code (MAX_OTP_VERIFY_ATTEMPTS). */
  readonly maxAttempts: number;
  /** Wrong codes per day at all addresses of a domain (MAX_OTP_FAILURES_PER_DAY). */
  readonly failuresPerDay: number;
  /** Mails per hour to addresses of a domain that nobody has logged in with yet (MAX_OTP_NEW_MAILS_PER_HOUR). */
  readonly newMailsPerHour: number;
}

/** Whose limit was used up, by a guess or a mail. */
export type LimitScope = GuessSpender | 'mails_domain' | 'mails_installation';

export interface LoginCodesDeps {
  readonly challenges: Challenges;
  readonly counters: Counters;
  readonly addresses: LoginAddresses;
  readonly mailer: Mailer;
  readonly subjects: Subjects;
  /** The key for hashing codes is derived from it. */
  readonly installationKey: Buffer;
  readonly limits: LoginCodeLimits;
  /** Who may log in (CONSOLE_EMAILS): nobody else gets mail. */
  readonly admits: (email: string) => boolean;
  /** The service's own address, which the mail names. A function, because a port may be known late. */
  readonly publicUrl: () => string;
  /** Six digits; by default drawn at random. */
  readonly newCode?: () => string;
  /** Receives the fault of a mail that was not sent although its asker was told that it would be, and other faults that nobody awaits. */
  readonly onFault?: (error: unknown) => void;
  /** Called for each guess and mail for which a limit had nothing left. */
  readonly onSpent?: (scope: LimitScope, domain: string) => void;
  readonly trace?: Trace<ChallengeRecord> | undefined;
}

export interface CodeSent {
  readonly expiresInSec: number;
}
