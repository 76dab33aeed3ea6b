import type { AuthRecord } from '../../machines/auth-session/types.ts';
import type { ChallengeRecord } from '../../machines/otp-challenge/types.ts';
import type { Trace } from '../actors/trace.ts';
import { ifAway } from '../kernel/errors.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Why } from '../protocol/errors/error-row.ts';
import type { Challenges, LoginAddresses } from '../stores/logins/contract.ts';
import { ChallengeChain } from './challenge-chain.ts';
import { WrongCodes, domainOf, MAX_FAILURES_IN_ROW, type GuessSpender } from './code-limits.ts';
import { createCodeHash, createCodeSender, type CodeSenderDeps } from './send-code.ts';
import type { Device } from './cookies.ts';
import { askersFor, AddressLocks, type Visitor } from './address-lock.ts';

export interface LoginCodesDeps extends CodeSenderDeps {
  readonly challenges: Challenges;
  readonly addresses: LoginAddresses;
  /** The key for hashing codes is derived from it. */
  readonly installationKey: Buffer;
  readonly trace?: Trace<ChallengeRecord> | undefined;
}

export type LoginCodes = ReturnType<typeof createLoginCodes>;

const LEVER = 'MAX_OTP_FAILURES_PER_DAY';

/**
 * One-time codes by mail (docs/contract.md, section 6.2). Addresses are already parsed, codes have six digits. Browsers that hold a device
 * cookie for the address have codes, sends and guesses of their own: strangers cannot use them up.
 */
export function createLoginCodes(deps: LoginCodesDeps) {
  const { counters, subjects, limits } = deps;
  const chain = new ChallengeChain(deps.challenges, deps.trace);
  const hashCode = createCodeHash(deps.installationKey);
  const locks = new AddressLocks(deps.addresses, counters, subjects);
  const wrongCodes = new WrongCodes(counters, subjects, {
    perHour: limits.perHour * limits.maxAttempts,
    perDomain: limits.failuresPerDay,
  });
  const sender = createCodeSender(deps, { chain, hashCode, locks, deviceOf });

  /** Ignores a device cookie that has no guesses left. */
  async function deviceOf({ device }: Visitor): Promise<Device | undefined> {
    return device !== undefined && (await wrongCodes.hasLeft(device)) ? device : undefined;
  }

  /**
   * Redeems a code of the login's address, once, and inserts the login in the same step, so that no code is spent without a login.
   * @returns true, or INVALID_OTP, which is the same whatever is wrong with the code and whichever limit is used up.
   * @throws Unavailable when the database is away.
   */
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
      locks.of(email, atMs),
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
    const taken = await wrongCodes.take(guess, atMs);
    const id = live !== undefined && taken.allowed ? live.id : `none:${subject}`;
    const isOwnCode = device !== undefined && own !== undefined;
    const asker = isOwnCode ? subjects.knownBrowsers(email) : subjects.address(visitor.from);
    const facts = await chain.redeem(id, { codeHash: hashCode(id, code), asker }, login, atMs, requestId);
    if (facts.some(({ type }) => type === 'challenge.verified')) {
      // The code is spent and has opened its login, so a failure to note that must not cost the login.
      const noted = Promise.all([wrongCodes.succeeded(taken), locks.loggedIn(email, atMs)]);
      await noted.catch(ifAway(() => undefined));
      return true;
    }
    // Only evaluated guesses are charged.
    if (facts.length === 0) await wrongCodes.giveBack(taken, subject, atMs);
    if (taken.spent !== undefined) deps.onSpent?.(taken.spent, domainOf(email));
    return invalidCode(taken.spent, subject, limits.failuresPerDay);
  }

  return {
    ...sender,
    verify,
    /**
     * Reopens an address to strangers after too many consecutive wrong codes, and for a day also exempts it from the used-up limits of its
     * domain and the installation.
     * @returns how many consecutive wrong codes are forgotten
     * @throws Unavailable when the database is away
     */
    lift: (email: string, atMs: number): Promise<number> => locks.lift(email, atMs),
  };
}

/** The same refusal for the caller in all cases; operators see the cause. */
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
