import { randomBytes } from 'node:crypto';
import type { Trace } from '../actors/trace.ts';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import type { ChallengeRecord } from '../../machines/otp-challenge/types.ts';
import { Unavailable, ifAway } from '../kernel/errors.ts';
import { mustWait, Refusal } from '../protocol/refusal.ts';
import type { Mailer, ReadyMail } from '../mail/contract.ts';
import { loginCodeMail } from '../mail/templates/login-code.ts';
import type { Challenges } from '../stores/challenges/contract.ts';
import type { Counters } from '../stores/counters/contract.ts';
import { ChallengeChain, type Draft, type DraftTerms } from './challenge-chain.ts';
import { createCodeHash, drawCode } from './code.ts';
import { SendBudget } from './send-budget.ts';
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
  /** Hears of a mail that did not go out although its asker was told that it would, and of other faults that nobody waits for. */
  readonly onFault?: (error: unknown) => void;
  readonly trace?: Trace<ChallengeRecord> | undefined;
}

interface CodeSent {
  readonly expiresInSec: number;
}

/**
 * One-time codes by mail (docs/contract.md, section 6.2). Addresses are parsed ones, codes six digits; `from` is the network address of the
 * caller, by its scope.
 */
export interface LoginCodes {
  /**
   * Mails a new code, which takes the place of the one before. An address that may not log in gets the same answer for the same
   * work, and no mail: the answer comes when the mail server is ready for a recipient, and does not wait for what it says to one.
   * A send that is refused or fails is as if it had not been: the code before goes on to work, as it does when the mail is not
   * taken afterwards.
   * @returns RATE_LIMIT_EXCEEDED beyond `perHour` sends, with the seconds to wait.
   * @throws Unavailable when the mail server or the database is away; the send is not counted then.
   */
  send(email: string, from: string, atMs: number, requestId?: string): Promise<CodeSent | Refusal>;
  /**
   * Redeems a code of the login's address, once, and inserts the login: a code is spent only on a login that is there.
   * @returns true, or INVALID_OTP, which is the same whatever is wrong with the code.
   * @throws Unavailable when the database is away.
   */
  verify(login: AuthRecord, code: string, from: string, atMs: number, requestId?: string): Promise<true | Refusal>;
  /** Resolves when no mail is being handed over any more. */
  settled(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** No limit at all: this counter is only there to be written. */
const UNLIMITED = 1_000_000_000;

export function createLoginCodes(deps: LoginCodesDeps): LoginCodes {
  const { counters, mailer, subjects, limits } = deps;
  const chain = new ChallengeChain(deps.challenges, deps.trace);
  const hashCode = createCodeHash(deps.installationKey);
  const guessesPerHour = limits.perHour * limits.maxAttempts;
  const budget = new SendBudget(counters, limits.perHour);
  const underWay = new Set<Promise<unknown>>();

  async function send(email: string, from: string, atMs: number, requestId?: string): Promise<CodeSent | Refusal> {
    const subject = subjects.console(email);
    const asker = subjects.address(from);
    const taken = await budget.take(subject, asker, atMs);
    if (!taken.allowed) return tooManySends(taken.retryAtMs, atMs, limits.perHour);
    let mail: ReadyMail | undefined;
    try {
      const code = (deps.newCode ?? drawCode)();
      mail = await mailer.prepare({ to: email, ...render(code, atMs) });
      // A code that nobody gets must not be guessed either: no code has this hash.
      const hashFor = (id: string): string =>
        deps.admits(email) ? hashCode(id, code) : randomBytes(32).toString('hex');
      const draft = await chain.draft(termsFor(subject, asker, taken.isFrequent, atMs), atMs, hashFor, requestId);
      finish(handOver(email, mail, draft, atMs));
      return { expiresInSec: limits.expiryMinutes * 60 };
    } catch (error) {
      mail?.drop();
      const given = budget.giveBack(taken).catch(ifAway(() => undefined));
      // A database that has just been waited for in vain is not waited for again.
      if (error instanceof Unavailable && error.dependency === 'database') given.catch(() => {});
      else await given;
      throw error;
    }
  }

  function termsFor(subject: string, asker: string, isFrequent: boolean, atMs: number): DraftTerms {
    const expiresAtMs = atMs + limits.expiryMinutes * 60_000;
    const maxAttempts = isFrequent ? Math.ceil(limits.maxAttempts / 2) : limits.maxAttempts;
    return { subject, asker, expiresAtMs, maxAttempts };
  }

  function render(code: string, requestedAtMs: number) {
    const { expiryMinutes: expiresInMinutes } = limits;
    return loginCodeMail({ code, expiresInMinutes, publicUrl: deps.publicUrl(), requestedAtMs });
  }

  /** Nobody waits for it: how long it takes and how it ends would tell who is known. */
  async function handOver(email: string, mail: ReadyMail, draft: Draft, atMs: number): Promise<void> {
    try {
      if (deps.admits(email)) await mail.send();
      else mail.drop();
    } catch (error) {
      deps.onFault?.(error);
      return chain.withdraw(draft, atMs);
    }
    // Only tidies up, since the draft holds already.
    await chain.confirm(draft, atMs);
  }

  function finish(work: Promise<void>): void {
    const done: Promise<unknown> = work
      .catch((error: unknown) => deps.onFault?.(error))
      .then(() => underWay.delete(done));
    underWay.add(done);
  }

  async function verify(
    login: AuthRecord,
    code: string,
    from: string,
    atMs: number,
    requestId?: string,
  ): Promise<true | Refusal> {
    const { email } = login;
    const subject = subjects.console(email);
    const live = await chain.live(subject, atMs);
    // Guesses are counted while there is something to guess: others could otherwise spend an address's guesses for it.
    const limit = live === undefined ? UNLIMITED : guessesPerHour;
    const key = live === undefined ? `otp-idle:${subject}` : `otp-verify:${subject}`;
    const { allowed, windowStartMs } = await counters.take(key, limit, HOUR_MS, atMs);
    const id = live !== undefined && allowed && deps.admits(email) ? live.id : `none:${subject}`;
    const guess = { codeHash: hashCode(id, code), asker: subjects.address(from) };
    const facts = await chain.redeem(id, guess, login, atMs, requestId);
    if (facts.some(({ type }) => type === 'challenge.verified')) return true;
    // Only what was evaluated is charged. One question more in any case, so that time does not tell whether a code is under way.
    if (facts.length === 0 && live !== undefined && allowed) await counters.giveBack(key, windowStartMs);
    else if (facts.length === 0) await counters.take(`otp-idle:${subject}`, UNLIMITED, HOUR_MS, atMs);
    return new Refusal('INVALID_OTP', 'the code is wrong, used or expired: request a new one');
  }

  return {
    send,
    verify,
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function tooManySends(untilMs: number, atMs: number, limit: number): Refusal {
  const why = { layer: 'login', limit, unit: 'codes', lever: 'MAX_OTP_PER_HOUR' } as const;
  return mustWait('Too many codes were requested for this address', untilMs, atMs, why);
}
