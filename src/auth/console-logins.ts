import { createAuthSessionMachine } from '../../machines/auth-session/machine.ts';
import { classify, isRenewalDue } from '../../machines/auth-session/selectors.ts';
import type { AuthEvent, AuthFact, AuthLimits, AuthRecord, DestroyReason } from '../../machines/auth-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import { Refusal } from '../protocol/refusal.ts';
import { createHost, type Host } from '../actors/host.ts';
import type { Trace } from '../actors/trace.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import { randomId } from '../kernel/ids.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Logins } from '../stores/logins/contract.ts';
import { LoginCache, type CachedLogin, type Login } from './login-cache.ts';
import { KnownTokens, type TokenClaims, type Tokens } from './tokens.ts';

export interface ConsoleLoginsDeps {
  readonly logins: Logins;
  readonly bus: Bus;
  readonly tokens: Tokens;
  readonly limits: AuthLimits;
  /** Who may log in (CONSOLE_EMAILS): a user who was removed from the list is no longer logged in. */
  readonly admits: (email: string) => boolean;
  readonly trace?: Trace<AuthRecord> | undefined;
}

export interface OpenedLogin {
  readonly login: Login;
  readonly token: string;
}

interface AuthenticatedLogin {
  readonly login: Login;
  /** The token for a new cookie, if activity has just extended the login. */
  readonly renewedToken?: string;
}

export type ConsoleLogins = ReturnType<typeof createConsoleLogins>;

/**
 * Console logins, each an auth-session actor: the token says who, the login's row says whether it still holds (docs/contract.md, section
 * 6.4). Every change of a row goes through its actor here, and every node forgets what it knew of a login that ended.
 */
export function createConsoleLogins(deps: ConsoleLoginsDeps) {
  const { bus, tokens, limits } = deps;
  const known = new LoginCache(deps.logins);
  const claimsOf = new KnownTokens();
  const renewing = new Set<string>();

  const host: Host<AuthRecord, AuthEvent, AuthFact> = createHost({
    machine: createAuthSessionMachine(limits),
    store: deps.logins,
    stateOf: (record) => (record.destroyedAtMs === null ? 'active' : 'destroyed'),
    settled(record, facts) {
      if (facts.some(({ type }) => type === 'login.destroyed'))
        bus.publish({ type: 'login.changed', loginId: record.id });
    },
    trace: deps.trace,
  });

  const listeners: ((loginId: string | undefined) => void)[] = [];
  // Nothing else may subscribe to the bus for logins: a subscriber that was called first would get the old answer here.
  const stops = [
    bus.subscribe({ 'login.changed': ({ loginId }) => forget(loginId) }),
    bus.onGap(() => forget(undefined)),
  ];

  function forget(loginId: string | undefined): void {
    if (loginId === undefined) known.doubtAll();
    else known.drop(loginId);
    for (const listener of listeners) listener(loginId);
  }

  function admit(claims: TokenClaims, atMs: number): Eventually<AuthenticatedLogin | undefined> {
    if (atMs >= claims.expiresAtMs) return undefined;
    return andThen(known.get(claims.loginId, atMs), (login) => recognize(login, claims, atMs));
  }

  /** Checks that the claims still match the login's row. The activity may extend the login. */
  function recognize(
    login: CachedLogin | undefined,
    claims: TokenClaims,
    atMs: number,
  ): Eventually<AuthenticatedLogin | undefined> {
    if (login === undefined || classify(login.record, atMs) !== 'active') return undefined;
    // Whoever holds a leaked secret must not turn one person's login into another's.
    if (login.record.email !== claims.email || !deps.admits(claims.email)) return undefined;
    const mayRenew = isRenewalDue(login.record, atMs, limits) && !known.isAway && !renewing.has(login.record.id);
    return mayRenew ? renew(login, atMs) : login.answer;
  }

  async function renew(login: CachedLogin, atMs: number): Promise<AuthenticatedLogin | undefined> {
    const { id, email } = login.record;
    renewing.add(id);
    try {
      const outcome = await host.send(id, { type: 'ACTIVITY', at: atMs });
      // Deleted, or ended by another node whose message has not arrived yet.
      if (outcome === undefined) known.drop(id);
      if (outcome === undefined || classify(outcome.record, atMs) !== 'active') return undefined;
      const { answer, record } = known.replace(login, outcome.record, atMs);
      if (!outcome.facts.some(({ type }) => type === 'login.renewed')) return answer;
      return { ...answer, renewedToken: await issue({ email, loginId: id, expiresAtMs: record.expiresAtMs }, atMs) };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      known.lost();
      return login.answer;
    } finally {
      renewing.delete(id);
    }
  }

  async function issue(claims: TokenClaims, atMs: number): Promise<string> {
    const token = await tokens.sign(claims, atMs);
    claimsOf.set(token, claims);
    return token;
  }

  return {
    /**
     * Logs in an address.
     * @param enter inserts the login's row in one step with what proves the address, or refuses: then nobody is logged in.
     * @throws what `enter` throws
     */
    async open(
      email: string,
      atMs: number,
      enter: (login: AuthRecord) => Promise<true | Refusal>,
      requestId?: string,
    ): Promise<OpenedLogin | Refusal> {
      const record = host.open({ type: 'OPEN', at: atMs, id: `auth_${randomId()}`, email, requestId });
      const entered = await enter(record);
      if (entered instanceof Refusal) return entered;
      known.add(record, atMs);
      const { id, expiresAtMs } = record;
      return { login: { id, email, expiresAtMs }, token: await issue({ email, loginId: id, expiresAtMs }, atMs) };
    },

    /**
     * The login of a token; undefined when the token is not valid or the login is over. Counts as activity, which extends the login at most
     * once a minute. Answers synchronously for a login whose row was read in the last five seconds.
     * @throws Unavailable when the token cannot be checked because the database is away: that is 503, never 401.
     */
    authenticate(token: string, atMs: number): Eventually<AuthenticatedLogin | undefined> {
      const claims = claimsOf.get(token);
      if (claims !== undefined) return admit(claims, atMs);
      return andThen(tokens.verify(token, atMs), (verified) => {
        if (verified === undefined) return undefined;
        claimsOf.set(token, verified);
        return admit(verified, atMs);
      });
    },

    /**
     * Ends a login on every node. A login that is already over keeps its end.
     * @returns the login's record after the end, or undefined when the id is unknown.
     * @throws Unavailable when the database is away: then the login continues.
     */
    async destroy(
      loginId: string,
      reason: Exclude<DestroyReason, 'expired'>,
      atMs: number,
      requestId?: string,
    ): Promise<AuthRecord | undefined> {
      const outcome = await host.send(loginId, { type: 'DESTROY', at: atMs, reason, requestId });
      known.drop(loginId);
      return outcome?.record;
    },

    /**
     * Calls the listener for each login that ended, on any node, and with `undefined` where any may have ended. By then this node has
     * forgotten what it knew of them, so a listener that asks gets the new answer.
     */
    onEnded(listener: (loginId: string | undefined) => void): void {
      listeners.push(listener);
    },

    /** Stops listening to the bus. */
    close(): void {
      for (const stop of stops) stop();
    },
  };
}
