import type { Eventually } from '../../kernel/eventually.ts';
import { Lru } from '../../kernel/lru.ts';
import type { Budget } from '../../stores/budgets/contract.ts';
import type { EndingSessions } from './end-sessions.ts';
import { counts, type BudgetOwner } from './counted-by.ts';

/** Sessions whose agents are remembered. */
const MAX_SESSIONS = 20_000;
const NONE: readonly Budget[] = [];

export interface ApplicableBudgetsDeps {
  readonly directory: { budgetsOf(tenantId: string | null): readonly Budget[] };
  readonly sessions: Pick<EndingSessions, 'find'>;
}

/** Finds the budgets that count an owner's usage. */
export class ApplicableBudgets {
  readonly #deps: ApplicableBudgetsDeps;
  /** The agents of sessions, which never change. */
  readonly #agents = new Lru<string>(MAX_SESSIONS);

  constructor(deps: ApplicableBudgetsDeps) {
    this.#deps = deps;
  }

  /** The installation's budgets first. An unknown agent is looked up only where some budget is for an agent. */
  to(owner: BudgetOwner): Eventually<readonly Budget[]> {
    const { directory } = this.#deps;
    const ofAll = directory.budgetsOf(null);
    const ofTenant = owner.tenantId === null ? NONE : directory.budgetsOf(owner.tenantId);
    if (ofAll.length + ofTenant.length === 0) return NONE;
    const all = [...ofAll, ...ofTenant];
    const { sessionId } = owner;
    const needsAgent =
      owner.agentId === undefined && sessionId != null && all.some(({ of }) => of.startsWith('agent:'));
    const agentId = needsAgent ? (this.#agents.get(sessionId) ?? this.#agentOf(sessionId)) : owner.agentId;
    const toThis = (found: string | null | undefined): readonly Budget[] => {
      const whose = { ...owner, agentId: found };
      return all.filter((budget) => counts(budget, whose));
    };
    return agentId instanceof Promise ? agentId.then(toThis) : toThis(agentId);
  }

  async #agentOf(sessionId: string): Promise<string | null | undefined> {
    const agentId = (await this.#deps.sessions.find(sessionId))?.agentId;
    if (agentId != null) this.#agents.set(sessionId, agentId);
    return agentId;
  }
}
