import { createHmac, hkdfSync, randomBytes, randomInt } from 'node:crypto';
import type { ValuesOf } from '../../config/variable.ts';
import { Unavailable, ifAway } from '../kernel/errors.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import type { Mailer, ReadyMail } from '../mail/contract.ts';
import { loginCodeMail } from '../mail/templates/login-code.ts';
import { mustWait, type Refusal } from '../protocol/refusal.ts';
import type { Counters, TakenCount } from '../stores/counters/contract.ts';
import type { ChallengeChain, Draft, DraftTerms } from './challenge-chain.ts';
import { CodeSendLimit, DomainLimit, domainOf, type GuessSpender } from './code-limits.ts';
import type { Device } from './cookies.ts';
import { askersFor, type AddressLocks, type Visitor } from './address-lock.ts';
import type { Subjects } from './subjects.ts';
import type { otp } from './variables.ts';

/** Whose limit was used up, by a guess or a mail. */
export type LimitScope = GuessSpender | 'mails_domain' | 'mails_installation';

export interface CodeSenderDeps {
  readonly counters: Counters;
  readonly mailer: Mailer;
  readonly subjects: Subjects;
  readonly limits: ValuesOf<typeof otp>;
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
}

interface CodeSent {
  readonly expiresInSec: number;
}

interface SenderParts {
  readonly chain: ChallengeChain;
  readonly hashCode: CodeHash;
  readonly locks: AddressLocks;
  /** The device cookie, as long as it has guesses left. */
  readonly deviceOf: (visitor: Visitor) => Promise<Device | undefined>;
}

/** Mails codes. For an address that gets no mail it does everything that can be observed just the same. */
export function createCodeSender(deps: CodeSenderDeps, parts: SenderParts) {
  const { counters, mailer, subjects, limits } = deps;
  const { chain, hashCode, locks, deviceOf } = parts;
  const sends = new CodeSendLimit(counters, limits.perHour);
  const newMails = new DomainLimit(counters, subjects, {
    name: 'otp-mailed',
    perDomain: limits.newMailsPerHour,
    windowMs: HOUR_MS,
  });
  const underWay = new Set<Promise<unknown>>();

  /**
   * Mails a new code, which replaces the one before. An address that may not log in, whose limit of mails is used up or
   * that is closed to strangers gets the same answer after the same work, but no mail: the answer comes when the mail server is ready
   * for a recipient, and does not wait for its response to one.
   * A send that is refused or fails leaves everything as it was: the code before keeps working, as it also does when the mail is
   * rejected afterwards.
   * @returns RATE_LIMIT_EXCEEDED beyond `perHour` sends, with the seconds to wait.
   * @throws Unavailable when the mail server or the database is away; the send is not counted then.
   */
  async function send(email: string, visitor: Visitor, atMs: number, requestId?: string): Promise<CodeSent | Refusal> {
    const subject = subjects.console(email);
    const device = await deviceOf(visitor);
    const asker = device === undefined ? subjects.address(visitor.from) : subjects.knownBrowsers(email);
    const taken =
      device === undefined ? await sends.take(subject, asker, atMs) : await sends.takeOfKnown(subject, atMs);
    if (!taken.allowed) return tooManySends(taken.retryAtMs, atMs, limits.perHour);
    const counts = [...taken.counts];
    let mail: ReadyMail | undefined;
    try {
      const mails = await takeMail(email, device, atMs);
      counts.push(...mails.counts);
      const code = (deps.newCode ?? drawCode)();
      mail = await mailer.prepare({ to: email, ...render(code, atMs) });
      // A code that is not mailed must not be guessable either: no code has this hash.
      const hashFor = (id: string): string => (mails.isMailed ? hashCode(id, code) : randomBytes(32).toString('hex'));
      // It is also stored under another subject, so that a code sent earlier keeps working.
      const place = mails.isSpent ? subjects.console(`unsent:${email}`) : subject;
      const terms = termsFor(place, asker, taken.isFrequent, atMs);
      const [own] = askersFor(email, device, subjects);
      const draft = await chain.draft(terms, own, atMs, hashFor, requestId);
      finish(handOver(mails.isMailed, mail, draft, atMs));
      return { expiresInSec: limits.expiryMinutes * 60 };
    } catch (error) {
      mail?.drop();
      const given = counters.giveBack(counts).catch(ifAway(() => undefined));
      // Do not wait a second time for a database that has just not answered.
      if (error instanceof Unavailable && error.dependency === 'database') given.catch(() => {});
      else await given;
      throw error;
    }
  }

  /** Whether a mail is sent. Makes the same number of queries in either case. */
  async function takeMail(
    email: string,
    device: Device | undefined,
    atMs: number,
  ): Promise<{ readonly isMailed: boolean; readonly isSpent: boolean; readonly counts: readonly TakenCount[] }> {
    const { isKnown, isLifted, isClosed } = await locks.of(email, atMs);
    const isShut = isClosed && device === undefined;
    const mayBeMailed = deps.admits(email) && !isShut;
    const isNew = !isKnown && !isLifted && device === undefined;
    const { spent, counts } = await newMails.take(mayBeMailed && isNew ? email : undefined, atMs);
    if (deps.admits(email) && isShut) deps.onSpent?.('address', domainOf(email));
    if (spent !== undefined) deps.onSpent?.(`mails_${spent}`, domainOf(email));
    return { isMailed: mayBeMailed && spent === undefined, isSpent: spent !== undefined, counts };
  }

  function termsFor(subject: string, asker: string, isFrequent: boolean, atMs: number): DraftTerms {
    const expiresAtMs = atMs + limits.expiryMinutes * MINUTE_MS;
    const maxAttempts = isFrequent ? Math.ceil(limits.maxAttempts / 2) : limits.maxAttempts;
    return { subject, asker, expiresAtMs, maxAttempts };
  }

  function render(code: string, requestedAtMs: number) {
    const { expiryMinutes: expiresInMinutes } = limits;
    return loginCodeMail({ code, expiresInMinutes, publicUrl: deps.publicUrl(), requestedAtMs });
  }

  /** Not awaited by the caller: its duration and outcome would reveal which addresses are known. */
  async function handOver(isMailed: boolean, mail: ReadyMail, draft: Draft, atMs: number): Promise<void> {
    try {
      if (isMailed) await mail.send();
      else mail.drop();
    } catch (error) {
      deps.onFault?.(error);
      return chain.withdraw(draft, atMs);
    }
    // Only cleans up, since the draft holds already.
    await chain.confirm(draft, atMs);
  }

  function finish(work: Promise<void>): void {
    const done: Promise<unknown> = work
      .catch((error: unknown) => deps.onFault?.(error))
      .then(() => underWay.delete(done));
    underWay.add(done);
  }

  return {
    send,
    /** Resolves when no more mails are being handed over. */
    async settled(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function tooManySends(untilMs: number, atMs: number, limit: number): Refusal {
  const why = { layer: 'login', limit, unit: 'codes', lever: 'MAX_OTP_PER_HOUR' } as const;
  return mustWait('Too many codes were requested for this address', untilMs, atMs, why);
}

/** A login code, drawn uniformly from 000000 to 999999 (docs/contract.md, section 6.2). */
export function drawCode(): string {
  return randomInt(1_000_000).toString().padStart(6, '0');
}

/** Hashes codes so that the database alone does not reveal them: without a key, a million candidates could be tried in a second. */
export type CodeHash = (challengeId: string, code: string) => string;

/** @param installationKey the installation's secret, from which the key for hashing codes is derived */
export function createCodeHash(installationKey: Buffer): CodeHash {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard login code', 32));
  // The id makes equal codes of different challenges hash differently, and ties a hash to its row.
  return (challengeId, code) => createHmac('sha256', key).update(`${challengeId}:${code}`).digest('hex');
}
