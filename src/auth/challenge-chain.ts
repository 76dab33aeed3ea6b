import { classify } from '../../machines/otp-challenge/selectors.ts';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import type {
  ChallengeEvent,
  ChallengeFact,
  ChallengeRecord,
  ChallengeTerms,
} from '../../machines/otp-challenge/types.ts';
import { otpChallengeMachine } from '../../machines/otp-challenge/machine.ts';
import { createHost, type Host } from '../actors/host.ts';
import type { Trace } from '../actors/trace.ts';
import { randomId } from '../kernel/ids.ts';
import type { Askers, Challenges } from '../stores/logins/contract.ts';

/** An id contains that of the challenge it replaces, after a dot; beyond this length a new chain starts. */
const MAX_ID_LENGTH = 400;

/** The terms of a new challenge; its id and the hash of its code are made once its predecessor is known. */
export type DraftTerms = Omit<ChallengeTerms, 'id' | 'codeHash'>;

export interface Draft {
  readonly record: ChallengeRecord;
  /** The challenge that held before, if there was one. */
  readonly previousId: string | undefined;
  /** The request that asked for it. */
  readonly requestId: string | undefined;
}

/** The machine's events; REDEEM also carries the login that the right code opens. */
type ChainEvent =
  | Exclude<ChallengeEvent, { type: 'REDEEM' }>
  | (Extract<ChallengeEvent, { type: 'REDEEM' }> & { readonly login: AuthRecord });

/**
 * The challenges of an address, of which one holds for each kind of askers. A draft holds from its insertion on, because its mail may be
 * read before the mail server has confirmed it; `confirm` then ends the one before it, and `withdraw` makes that one hold again. To find
 * it, an id contains its predecessor's: `newer.older`. Superseded challenges are skipped, so no order of events brings one back.
 */
export class ChallengeChain {
  readonly #challenges: Challenges;
  readonly #host: Host<ChallengeRecord, ChainEvent, ChallengeFact>;

  constructor(challenges: Challenges, trace?: Trace<ChallengeRecord>) {
    this.#challenges = challenges;
    this.#host = createHost<ChallengeRecord, ChainEvent, ChallengeFact>({
      machine: otpChallengeMachine,
      store: challenges,
      stateOf: (record) => record.outcome ?? 'pending',
      save: (record, expectedVersion, event) =>
        event.type === 'REDEEM' && record.outcome === 'verified'
          ? challenges.redeem(record, expectedVersion, event.login)
          : challenges.save(record, expectedVersion, record.outcome === 'locked' ? event.at : undefined),
      trace,
    });
  }

  /** The subject's challenge for some askers that can still be redeemed. @throws Unavailable */
  async live(subject: string, askers: Askers, atMs: number): Promise<ChallengeRecord | undefined> {
    let record = await this.#challenges.newest(subject, askers);
    while (record?.outcome === 'superseded') {
      const previousId = previousOf(record.id);
      record = previousId === undefined ? undefined : await this.#challenges.load(previousId);
    }
    return record !== undefined && classify(record, atMs) === 'pending' ? record : undefined;
  }

  /** Issues a challenge that replaces the present one of these askers. @throws Unavailable */
  async draft(
    terms: DraftTerms,
    askers: Askers,
    atMs: number,
    hashFor: (id: string) => string,
    requestId?: string,
  ): Promise<Draft> {
    const previousId = (await this.live(terms.subject, askers, atMs))?.id;
    const isLinked = previousId !== undefined && previousId.length < MAX_ID_LENGTH;
    const id = isLinked ? `${randomId()}.${previousId}` : randomId();
    const issued = { ...terms, id, codeHash: hashFor(id) };
    const record = this.#host.open({ type: 'ISSUE', at: atMs, terms: issued, requestId });
    const draft = { record, previousId, requestId };
    try {
      await this.#challenges.insert(record);
    } catch (error) {
      // The insertion may have succeeded all the same. Not awaited, because the database has just failed to answer in time.
      this.withdraw(draft, atMs).catch(() => {});
      throw error;
    }
    return draft;
  }

  /** The draft's mail is on its way: no challenge before it can hold again. @throws Unavailable */
  async confirm({ previousId, requestId }: Draft, atMs: number): Promise<void> {
    if (previousId !== undefined) await this.#host.send(previousId, { type: 'SUPERSEDE', at: atMs, requestId });
  }

  /** The draft's mail was not sent: the challenge before it holds again. @throws Unavailable */
  async withdraw({ record, requestId }: Draft, atMs: number): Promise<void> {
    await this.#host.send(record.id, { type: 'SUPERSEDE', at: atMs, requestId });
  }

  /**
   * Evaluates a code. Under any race, attempts are counted and a code is redeemed once. The right code inserts `login` in the same step.
   * @returns the facts; empty when nothing was evaluated, because the challenge is over, unknown, or reserved for its asker.
   * @throws Unavailable
   */
  async redeem(
    id: string,
    { codeHash, asker }: { readonly codeHash: string; readonly asker: string },
    login: AuthRecord,
    atMs: number,
    requestId?: string,
  ): Promise<readonly ChallengeFact[]> {
    const outcome = await this.#host.send(id, { type: 'REDEEM', at: atMs, codeHash, asker, login, requestId });
    return outcome?.facts ?? [];
  }
}

function previousOf(id: string): string | undefined {
  const dot = id.indexOf('.');
  return dot < 0 ? undefined : id.slice(dot + 1);
}
