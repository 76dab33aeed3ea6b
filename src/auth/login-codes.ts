import { randomBytes } from 'node:crypto';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import { Refusal, Unavailable } from '../kernel/errors.ts';
import { MailRefused, type Mailer } from '../mail/contract.ts';
import { loginCodeMail } from '../mail/templates/login-code.ts';
import type { Challenges } from '../stores/challenges/contract.ts';
import type { Counters } from '../stores/counters/contract.ts';
import { ChallengeChain } from './challenge-chain.ts';
import { createCodeHash, drawCode } from './code.ts';
import type { Subjects } from './subjects.ts';

interface LoginCodeLimits {
  readonly expiryMinutes: number;
  /** Codes an hour per address (MAX_OTP_PER_HOUR). */
  readonly perHour: number;
  /** Attempts per code (MAX_OTP_VERIFY_ATTEMPTS). */
  readonly maxAttempts: number;
}

export interface LoginCodesDeps {
  readonly challenges: Challenges;
  readonly counters: Counters;
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
  /** Hears that the mail server knows no such mailbox, which the asker must not. */
  readonly onMailRefused?: (error: MailRefused) => void;
}

interface CodeSent {
  readonly expiresInSec: number;
}

/** One-time codes by mail (specification section 5.2, contract section 6). Addresses are parsed ones, codes six digits. */
export interface LoginCodes {
  /**
   * Mails a new code, which takes the place of the one before. An address that may not log in gets the same answer for the same
   * work, and no mail. A send that is refused or fails is as if it had not been: the code before goes on to work.
   * @returns RATE_LIMIT_EXCEEDED beyond `perHour` sends, with the seconds to wait.
   * @throws Unavailable when the mail could not be handed over or the database is away; the send is not counted then.
   */
  send(email: string, atMs: number): Promise<CodeSent | Refusal>;
  /**
   * Redeems a code of the login's address, once, and inserts the login: a code is spent only on a login that is there.
   * @returns true, or INVALID_OTP, which is the same whatever is wrong with the code.
   * @throws Unavailable when the database is away.
   */
  verify(login: AuthRecord, code: string, atMs: number): Promise<true | Refusal>;
}

const HOUR_MS = 3_600_000;
/** No limit at all: this counter is only there to be written. */
const UNLIMITED = 1_000_000_000;

export function createLoginCodes(deps: LoginCodesDeps): LoginCodes {
  const { counters, mailer, subjects, limits } = deps;
  const chain = new ChallengeChain(deps.challenges);
  const hashCode = createCodeHash(deps.installationKey);
  const guessesPerHour = limits.perHour * limits.maxAttempts;

  async function send(email: string, atMs: number): Promise<CodeSent | Refusal> {
    const subject = subjects.console(email);
    const key = `otp-send:${subject}`;
    const count = await counters.take(key, limits.perHour, HOUR_MS, atMs);
    if (!count.allowed) return tooManySends(count.retryAtMs - atMs);
    try {
      const code = (deps.newCode ?? drawCode)();
      const draft = await chain.draft(newChallenge(subject, atMs), (id) =>
        // A code that nobody gets must not be guessed either: no code has this hash.
        deps.admits(email) ? hashCode(id, code) : randomBytes(32).toString('hex'),
      );
      await handOver(email, code, atMs).catch(async (error: unknown) => {
        await chain.withdraw(draft, atMs).catch(unlessUnavailable);
        throw error;
      });
      // Only tidies up, since the draft holds already: a mail that is on its way is not a failed send.
      await chain.confirm(draft, atMs).catch(unlessUnavailable);
      return { expiresInSec: limits.expiryMinutes * 60 };
    } catch (error) {
      const given = counters.giveBack(key, count.windowStartMs).catch(unlessUnavailable);
      // A database that has just been waited for in vain is not waited for again.
      if (error instanceof Unavailable && error.dependency === 'database') given.catch(() => {});
      else await given;
      throw error;
    }
  }

  function newChallenge(subject: string, atMs: number) {
    const expiresAtMs = atMs + limits.expiryMinutes * 60_000;
    const { maxAttempts } = limits;
    return { subject, issuedAtMs: atMs, expiresAtMs, attempts: 0, maxAttempts, outcome: null, version: 1 };
  }

  async function handOver(email: string, code: string, atMs: number): Promise<void> {
    const { expiryMinutes } = limits;
    const rendered = loginCodeMail({
      code,
      expiresInMinutes: expiryMinutes,
      publicUrl: deps.publicUrl(),
      requestedAtMs: atMs,
    });
    if (!deps.admits(email)) return mailer.rehearse();
    try {
      await mailer.send({ to: email, ...rendered });
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      deps.onMailRefused?.(error);
    }
  }

  async function verify(login: AuthRecord, code: string, atMs: number): Promise<true | Refusal> {
    const { email } = login;
    const subject = subjects.console(email);
    const live = await chain.live(subject, atMs);
    // Guesses are counted while there is something to guess: others could otherwise spend an address's guesses for it.
    const budget = live === undefined ? UNLIMITED : guessesPerHour;
    const key = live === undefined ? `otp-idle:${subject}` : `otp-verify:${subject}`;
    const { allowed } = await counters.take(key, budget, HOUR_MS, atMs);
    const id = live !== undefined && allowed && deps.admits(email) ? live.id : `none:${subject}`;
    const facts = await chain.redeem(id, hashCode(id, code), login, atMs);
    if (facts.some(({ type }) => type === 'challenge.verified')) return true;
    // What was evaluated was also written; the rest takes as long, so that time does not tell whether a code is under way.
    if (facts.length === 0) await counters.take(`otp-idle:${subject}`, UNLIMITED, HOUR_MS, atMs);
    return new Refusal('INVALID_OTP', 'the code is wrong, used or expired: request a new one');
  }

  return { send, verify };
}

function tooManySends(waitMs: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000));
  const error = `too many codes were requested for this address: wait ${retryAfter} s`;
  return new Refusal('RATE_LIMIT_EXCEEDED', error, { retryAfter });
}

/** For what is done on the way out: the first failure is the one to tell. */
function unlessUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error;
}
