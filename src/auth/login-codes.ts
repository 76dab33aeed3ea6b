import type { AuthRecord } from '../../machines/auth-session/types.ts';
import { ifAway } from '../kernel/errors.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Why } from '../protocol/refusal-why.ts';
import { ChallengeChain } from './challenge-chain.ts';
import { createCodeHash } from './code.ts';
import { createCodeSender } from './code-sender.ts';
import type { Device } from './device-cookie.ts';
import { domainOf } from './domain-budget.ts';
import { GuessBudget, MAX_FAILURES_IN_ROW, type GuessSpender } from './guess-budget.ts';
import type { CodeSent, LoginCodesDeps } from './login-codes-deps.ts';
import { askersFor, Standings, type Visitor } from './standing.ts';

/**
 * One-time codes by mail (docs/contract.md, section 6.2). Addresses are parsed ones, codes six digits. Browsers that hold a device cookie
 * of the address have codes, sends and guesses of their own: what strangers do takes nothing from them.
 */
export interface LoginCodes {
  /**
   * Mails a new code, which takes the place of the one before. An address that may not log in, whose budget of mails is spent or
   * that is closed to strangers gets the same answer for the same work, and no mail: the answer comes when the mail server is ready
   * for a recipient, and does not wait for what it says to one.
   * A send that is refused or fails is as if it had not been: the code before goes on to work, as it does when the mail is not
   * taken afterwards.
   * @returns RATE_LIMIT_EXCEEDED beyond `perHour` sends, with the seconds to wait.
   * @throws Unavailable when the mail server or the database is away; the send is not counted then.
   */
  send(email: string, visitor: Visitor, atMs: number, requestId?: string): Promise<CodeSent | Refusal>;
  /**
   * Redeems a code of the login's address, once, and inserts the login: a code is spent only on a login that is there.
   * @returns true, or INVALID_OTP, which is the same whatever is wrong with the code, or whose budget is spent.
   * @throws Unavailable when the database is away.
   */
  verify(login: AuthRecord, code: string, visitor: Visitor, atMs: number, requestId?: string): Promise<true | Refusal>;
  /**
   * Opens an address to strangers again after too many wrong codes in a row, and for a day also where its domain or the installation
   * has used up what is theirs.
   * @returns how many wrong codes in a row are forgotten
   * @throws Unavailable when the database is away
   */
  lift(email: string, atMs: number): Promise<number>;
  /** Resolves when no mail is being handed over any more. */
  settled(): Promise<void>;
}

const LEVER = 'MAX_OTP_FAILURES_PER_DAY';

export function createLoginCodes(deps: LoginCodesDeps): LoginCodes {
  const { counters, subjects, limits } = deps;
  const chain = new ChallengeChain(deps.challenges, deps.trace);
  const hashCode = createCodeHash(deps.installationKey);
  const standings = new Standings(deps.addresses, counters, subjects);
  const guesses = new GuessBudget(counters, subjects, {
    perHour: limits.perHour * limits.maxAttempts,
    perDomain: limits.failuresPerDay,
  });
  const sender = createCodeSender(deps, { chain, hashCode, standings, deviceOf });

  /** A device cookie that has no guesses left makes no difference any more. */
  async function deviceOf({ device }: Visitor): Promise<Device | undefined> {
    return device !== undefined && (await guesses.hasLeft(device)) ? device : undefined;
  }

  async function verify(
    login: AuthRecord,
    code: string,
    visitor: Visitor,
    atMs: number,
    requestId?: string,
  ): Promise<true | Refusal> {
    const { email } = login;
    const subject = subjects.console(email);
    const device = await deviceOf(visitor);
    const [mine, theirs] = askersFor(email, device, subjects);
    const [{ isCountedInRow, isLifted }, own, other] = await Promise.all([
      standings.of(email, atMs),
      chain.live(subject, mine, atMs),
      chain.live(subject, theirs, atMs),
    ]);
    const live = own ?? other;
    const guess = {
      subject,
      email: live !== undefined && deps.admits(email) ? email : undefined,
      hasCode: live !== undefined,
      device,
      isCountedInRow,
      isLifted,
    };
    const taken = await guesses.take(guess, atMs);
    const id = live !== undefined && taken.allowed ? live.id : `none:${subject}`;
    const isOwnCode = device !== undefined && own !== undefined;
    const asker = isOwnCode ? subjects.knownBrowsers(email) : subjects.address(visitor.from);
    const facts = await chain.redeem(id, { codeHash: hashCode(id, code), asker }, login, atMs, requestId);
    if (facts.some(({ type }) => type === 'challenge.verified')) {
      // The code is spent, and opened its login: what cannot be noted now costs nobody the login.
      const noted = Promise.all([guesses.succeeded(taken), standings.loggedIn(email, atMs)]);
      await noted.catch(ifAway(() => undefined));
      return true;
    }
    // Only what was evaluated is charged.
    if (facts.length === 0) await guesses.giveBack(taken, subject, atMs);
    if (taken.spent !== undefined) deps.onSpent?.(taken.spent, domainOf(email));
    return invalidCode(taken.spent, subject, limits.failuresPerDay);
  }

  return { ...sender, verify, lift: (email, atMs) => standings.lift(email, atMs) };
}

/** Its caller is told the same in all cases, and operators what it was. */
function invalidCode(spent: GuessSpender | undefined, subject: string, perDomain: number): Refusal {
  const why: Record<GuessSpender, Why> = {
    address: {
      fact: 'too many wrong codes in a row: only browsers that logged in before may go on',
      limit: MAX_FAILURES_IN_ROW,
    },
    device: { fact: 'the device cookie has no wrong codes left', limit: MAX_FAILURES_IN_ROW },
    guesses_domain: { fact: "the domain's wrong codes of the day are spent", limit: perDomain, lever: LEVER },
    guesses_installation: { fact: "the installation's wrong codes of the day are spent", lever: LEVER },
  };
  const told: Why = spent === undefined ? {} : { subject, unit: 'wrong codes', ...why[spent] };
  return new Refusal('INVALID_OTP', 'the code is wrong, used or expired: request a new one', {}, told);
}
