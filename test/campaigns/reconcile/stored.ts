import type { Sql } from 'postgres';
import { NO_TOKENS, TOKEN_CLASSES, type TokenClass, type TokenClasses } from '../../../src/protocol/price.ts';
import type { ReconciledDay } from '../../../src/stores/reconciliations/contract.ts';

/** What was counted of a call. */
export interface Metered {
  readonly measured: TokenClasses;
  readonly isGuessed: boolean;
}

/** Reads what the database holds, to compare it with what the provider bills. */
export class Stored {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The provider's id of a session's call; undefined if there is none. */
  async providerCallOf(sessionId: string): Promise<string | undefined> {
    const sql = this.#sql;
    const [row] = await sql<{ id: string }[]>`
      select provider_call_id as id from voice_call where session_id = ${sessionId} and provider_call_id is not null`;
    return row?.id;
  }

  /** How many calls are not closed yet: of these not everything is counted. */
  async open(): Promise<number> {
    const [row] = await this.#sql<{ open: number }[]>`
      select count(*)::integer as open from voice_call where state <> 'closed'`;
    return row?.open ?? 0;
  }

  /** All calls, by the provider's ids. */
  async calls(): Promise<ReadonlyMap<string, Metered>> {
    const rows = await this.#sql<{ id: string; class: TokenClass | null; tokens: number; isGuessed: boolean }[]>`
      with entry as (
        select provider_call_id as id, classes, coalesce(estimated or basis = 'reported', false) as guessed
        from voice_call left join usage_entry on usage_entry.call_id = voice_call.id where provider_call_id is not null
      ), guess as (select id, bool_or(guessed) as "isGuessed" from entry group by id),
      class as (
        select id, nth, sum(amount)::integer as tokens
        from entry cross join lateral unnest(classes) with ordinality as given (amount, nth) where not guessed group by id, nth
      )
      select guess.id, "isGuessed", (${[...TOKEN_CLASSES]}::text[])[nth] as class, coalesce(tokens, 0) as tokens
      from guess left join class on class.id = guess.id`;
    const calls = new Map<string, Metered>();
    for (const { id, class: name, tokens, isGuessed } of rows) {
      const { measured } = calls.get(id) ?? { measured: NO_TOKENS };
      calls.set(id, { isGuessed, measured: name === null ? measured : { ...measured, [name]: tokens } });
    }
    return calls;
  }

  async day(day: string): Promise<ReconciledDay> {
    const [row] = await this.#sql<{ report: string }[]>`select report from reconciliation where day = ${day}`;
    if (row === undefined) throw new Error(`${day} was not reconciled`);
    return JSON.parse(row.report) as ReconciledDay;
  }
}
