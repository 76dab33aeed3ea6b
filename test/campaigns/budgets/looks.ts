import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../support/client.ts';
import type { Random } from '../faults/random.ts';
import type { BudgetFact, ObservedSession } from './judge.ts';
import type { Kind } from './kinds.ts';

/** Whose usage counts for an account: all fields that are present must match. */
export interface Scope {
  readonly tenantId?: string;
  readonly keyId?: string;
  readonly agentId?: string;
  readonly subject?: string;
  readonly sessionId?: string;
}

/** A fact about a budget, with its account. */
export interface ToldFact extends BudgetFact {
  readonly account: string;
}

/** What a campaign sees while budgets are used up. */
export interface Looks {
  /** How long to wait between two looks. */
  readonly everyMs: number;
  used(scope: Scope, measure: Kind['measure']): Promise<number>;
  /** Resolves right after the entry of a report was saved, or in a moment in which it may be. */
  whenSaved(idempotencyKey: string): Promise<void>;
  /** What operators were told about a budget, oldest first. @param target its tenant, or `installation`, and its id, with a slash between */
  facts(target: string): Promise<ToldFact[]>;
  sessions(ids: readonly string[]): Promise<ObservedSession[]>;
  subjectOf(sessionId: string): Promise<string>;
  providerCallOf(sessionId: string): Promise<string | undefined>;
}

interface SeenSession extends Required<Omit<Scope, 'sessionId'>> {
  readonly id: string;
  readonly emailHash: string;
  readonly endReason: string | null;
  readonly usage: Used;
}

interface Used {
  readonly tokens: number;
  readonly dollars: number;
}

const AGAIN_MS = 100;
/** A report is answered within this time. */
const SAVED_WITHIN_MS = 20;

/** Asks the only node, as operators do: nobody else can read its embedded database. While the node starts again, questions wait. */
export class LooksOfOperators implements Looks {
  readonly everyMs = 400;
  readonly #backend: Client;
  readonly #random: Random;

  constructor(backend: Client, random: Random) {
    this.#backend = backend;
    this.#random = random;
  }

  async used({ tenantId, keyId, agentId, subject, sessionId }: Scope, measure: Kind['measure']): Promise<number> {
    if (tenantId === undefined && subject === undefined && sessionId === undefined) {
      const { total } = await this.#ask<{ readonly total: Used }>('/api/operator/usage?by=tenant');
      return amountOf(total, measure);
    }
    const query = new URLSearchParams({
      limit: '200',
      ...(tenantId !== undefined && { tenantId }),
      ...(keyId !== undefined && { keyId }),
      ...(agentId !== undefined && { agentId }),
      ...(subject !== undefined && { subject }),
    });
    const sessions =
      sessionId === undefined
        ? (await this.#ask<{ readonly sessions: readonly SeenSession[] }>(`/api/operator/sessions?${query.toString()}`))
            .sessions
        : [await this.#session(sessionId)];
    return sessions.reduce((sum, { usage }) => sum + amountOf(usage, measure), 0);
  }

  whenSaved(): Promise<void> {
    return delay(this.#random.between(0, SAVED_WITHIN_MS));
  }

  async facts(target: string): Promise<ToldFact[]> {
    const [tenantId = '', budgetId] = target.split('/');
    const query = tenantId === 'installation' ? '' : `?tenantId=${tenantId}`;
    const { facts } = await this.#ask<{
      readonly facts: readonly (ToldFact & { readonly id: string; readonly at: string })[];
    }>(`/api/operator/budgets${query}`);
    return facts
      .filter(({ id }) => id === budgetId)
      .map(({ code, percent, account, at }) => ({ code, percent, account, atMs: Date.parse(at) }))
      .toReversed();
  }

  async sessions(ids: readonly string[]): Promise<ObservedSession[]> {
    const found = await Promise.all(ids.map((id) => this.#session(id)));
    return found.map(({ id, endReason }) => ({ id, endReason }));
  }

  async subjectOf(sessionId: string): Promise<string> {
    return (await this.#session(sessionId)).emailHash;
  }

  async providerCallOf(sessionId: string): Promise<string | undefined> {
    const { calls } = await this.#session(sessionId);
    return calls.find(({ providerCallId }) => providerCallId !== null)?.providerCallId ?? undefined;
  }

  #session(id: string) {
    return this.#ask<SeenSession & { readonly calls: readonly { readonly providerCallId: string | null }[] }>(
      `/api/operator/sessions/${encodeURIComponent(id)}`,
    );
  }

  async #ask<T>(path: string): Promise<T> {
    for (;;) {
      const reply = await this.#backend.get(path).catch(() => undefined);
      if (reply?.status === 200) return reply.body as unknown as T;
      if (reply !== undefined && reply.status < 500) throw new Error(`${path} answered ${reply.text}`);
      await delay(AGAIN_MS);
    }
  }
}

function amountOf({ tokens, dollars }: Used, measure: Kind['measure']): number {
  return measure === 'tokens' ? tokens : Math.round(dollars * 1_000_000);
}
