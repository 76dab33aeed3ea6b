import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { settleAll } from '../../kernel/settle-all.ts';
import { SingleFlight } from '../../kernel/single-flight.ts';
import { idOfBudget } from '../../protocol/budget.ts';
import type { Budget } from '../../stores/budgets/contract.ts';
import type { VoiceHistory } from '../../stores/voice-history/contract.ts';
import { countedBy, counts, type BudgetOwner } from './counted-by.ts';

/** Sessions that are ended at once. */
const AT_ONCE = 100;

type EndReason = 'quota_exceeded';

/** Ends sessions; ending one again changes nothing. */
export interface EndingSessions {
  find(id: string): VoiceRecord | undefined | Promise<VoiceRecord | undefined>;
  end(id: string, reason: EndReason, at: number, requestId?: string): unknown;
  endSubject(
    subject: string,
    reason: EndReason,
    at: number,
    isMeant: (record: VoiceRecord) => boolean,
    requestId?: string,
  ): Promise<void>;
  endKey(tenantId: string, keyId: string, reason: EndReason, at: number, requestId?: string): Promise<void>;
  /** Ends the sessions of all widget keys of the tenant. */
  endTenant(tenantId: string, reason: EndReason, at: number, requestId?: string): Promise<void>;
}

export interface SessionEnderDeps {
  readonly sessions: Omit<EndingSessions, 'endTenant'>;
  readonly history: Pick<VoiceHistory, 'activeOfTenant'>;
  readonly directory: { all(): readonly { readonly id: string }[] };
}

/** Ends sessions for which a budget leaves nothing. Calls made while that is under way wait for it: each entry may ask. */
export class SessionEnder {
  readonly #deps: SessionEnderDeps;
  readonly #ending = new SingleFlight();

  constructor(deps: SessionEnderDeps) {
    this.#deps = deps;
  }

  /** @throws Unavailable when the history is away */
  async end(budget: Budget, owner: BudgetOwner, atMs: number, requestId: string | undefined): Promise<void> {
    const { sessions } = this.#deps;
    const { tenantId, of } = budget;
    const by = countedBy(budget);
    if (by === 'session') await sessions.end(owner.sessionId ?? '', 'quota_exceeded', atMs, requestId);
    else if (by === 'subject') {
      const isMeant = (record: VoiceRecord): boolean => record.tenantId === tenantId;
      await sessions.endSubject(owner.subject, 'quota_exceeded', atMs, isMeant, requestId);
    } else if (by === 'key')
      await sessions.endKey(tenantId ?? '', idOfBudget(of, 'key') ?? '', 'quota_exceeded', atMs, requestId);
    else await this.#ending.run(`${tenantId ?? ''} ${of}`, () => this.#endAll(budget, atMs, requestId));
  }

  async #endAll(budget: Budget, atMs: number, requestId: string | undefined): Promise<void> {
    const { sessions, history, directory } = this.#deps;
    const tenants = budget.tenantId === null ? directory.all().map(({ id }) => id) : [budget.tenantId];
    for (const tenantId of tenants) {
      const live = (await history.activeOfTenant(tenantId)).filter((record) => counts(budget, record));
      await settleAll(live, async ({ id }) => sessions.end(id, 'quota_exceeded', atMs, requestId), AT_ONCE);
    }
  }
}
