import type { Sql } from 'postgres';
import type { Entry, ObservedSession } from './judge.ts';
import type { Kind } from './kinds.ts';
import type { Looks, Scope, ToldFact } from './looks.ts';

const SAVED_WITHIN_MS = 5000;

/** Reads what the database holds, to compare it with what the service answers. */
export class Stored implements Looks {
  readonly everyMs = 150;
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

  async whenSaved(idempotencyKey: string): Promise<void> {
    const endMs = Date.now() + SAVED_WITHIN_MS;
    while (!(await this.#hasEntry(idempotencyKey)) && Date.now() < endMs);
  }

  async facts(target: string): Promise<ToldFact[]> {
    const rows = await this.#sql<{ code: ToldFact['code']; atMs: string; percent: number; account: string }[]>`
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

  async #hasEntry(idempotencyKey: string): Promise<boolean> {
    return (await this.#sql`select from usage_entry where idempotency_key = ${idempotencyKey}`).length > 0;
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
