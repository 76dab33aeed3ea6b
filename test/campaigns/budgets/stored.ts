import type { Sql } from 'postgres';
import type { Entry, ObservedSession, BudgetFact } from './judge.ts';
import type { Kind } from './kinds.ts';

/** Whose usage counts for an account: all fields that are present must match. */
export interface Scope {
  readonly tenantId?: string;
  readonly keyId?: string;
  readonly agentId?: string;
  readonly subject?: string;
  readonly sessionId?: string;
}

/** A fact about a budget in the journal. */
export interface StoredFact extends BudgetFact {
  readonly account: string;
}

/** Reads what the database holds, to compare it with what the service answers. */
export class Stored {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The entries that count, in the order in which they were saved. */
  async entries(scope: Scope, measure: Kind['measure']): Promise<Entry[]> {
    const sql = this.#sql;
    const amount = measure === 'tokens' ? sql`tokens` : sql`micro_dollars`;
    const rows = await sql<{ atMs: string; amount: string; sessionId: string }[]>`
      select at_ms as "atMs", ${amount} as amount, coalesce(session_id, '') as "sessionId" from usage_entry
      where ${this.#isOf(scope)} and ${amount} > 0 order by ordinal`;
    return rows.map(({ atMs, amount: counted, sessionId }) => ({
      atMs: Number(atMs),
      amount: Number(counted),
      sessionId,
    }));
  }

  async used(scope: Scope, measure: Kind['measure']): Promise<number> {
    const entries = await this.entries(scope, measure);
    return entries.reduce((sum, { amount }) => sum + amount, 0);
  }

  async hasEntry(idempotencyKey: string): Promise<boolean> {
    return (await this.#sql`select from usage_entry where idempotency_key = ${idempotencyKey}`).length > 0;
  }

  /** What operators were told about a budget, oldest first, each with its account. */
  async facts(target: string): Promise<StoredFact[]> {
    const rows = await this.#sql<{ code: BudgetFact['code']; atMs: string; percent: number; account: string }[]>`
      select code, at_ms as "atMs", (detail ->> 'percent')::integer as percent, detail ->> 'account' as account from journal
      where kind = 'fact' and target = ${target} order by ordinal`;
    return rows.map((row) => ({ ...row, atMs: Number(row.atMs) }));
  }

  async sessions(ids: readonly string[]): Promise<ObservedSession[]> {
    return this.#sql<ObservedSession[]>`
      select id, end_reason as "endReason" from voice_session where id = any(${[...ids]}::text[])`;
  }

  async subjectOf(sessionId: string): Promise<string> {
    const [row] = await this.#sql<{ subject: string }[]>`select subject from voice_session where id = ${sessionId}`;
    return row?.subject ?? '';
  }

  async providerCallOf(sessionId: string): Promise<string | undefined> {
    const [row] = await this.#sql<{ id: string | null }[]>`
      select provider_call_id as id from voice_call where session_id = ${sessionId} and provider_call_id is not null`;
    return row?.id ?? undefined;
  }

  #isOf({ tenantId, keyId, agentId, subject, sessionId }: Scope) {
    const sql = this.#sql;
    const all = sql`true`;
    return sql`
      ${tenantId === undefined ? all : sql`tenant_id = ${tenantId}`} and ${keyId === undefined ? all : sql`key_id = ${keyId}`}
      and ${agentId === undefined ? all : sql`agent_id = ${agentId}`} and ${subject === undefined ? all : sql`subject = ${subject}`}
      and ${sessionId === undefined ? all : sql`session_id = ${sessionId}`}`;
  }
}
