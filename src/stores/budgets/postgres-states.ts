import { budgetRecordId } from '../../../machines/budget/selectors.ts';
import type { BudgetRecord } from '../../../machines/budget/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment, type Statements } from '../../database/statements.ts';
import { grouped } from '../../kernel/async.ts';
import { appended } from '../journal/postgres.ts';
import { writeGivenEvents } from '../webhooks/outbox.ts';
import type { BudgetStates, BudgetTold } from './contract.ts';
import { INSTALLATION } from '../scanned-page.ts';

/** What operators were told about budgets, in PostgreSQL; reads of several budgets at once share a statement. */
export function createPostgresBudgetStates(database: Database): BudgetStates {
  const statements = statementsOf(database);
  const { query, first } = statements;
  const ofBudget = grouped((asked: readonly StatesQuery[]) => readAll(statements, asked));
  return {
    async load(of) {
      const row = await first<StateRow>`
        select ${columns} from budget_state
        where tenant_id = ${of.tenantId ?? INSTALLATION} and budget_id = ${of.budgetId} and period = ${of.period}
          and account = ${of.account}`;
      return row && { ...row, id: of.id };
    },

    save: (record, expectedVersion, fact) =>
      database.transaction(async (sql) => {
        const [saved] = await sql`${saveState(record, expectedVersion, fact)}`;
        if (saved === undefined) return false;
        if (fact?.entry !== undefined) await sql`${appended([fact.entry])}`;
        return true;
      }),

    async over(sinceMs, atMs, limit) {
      const rows = await query<StateRow>`
        select ${columns} from budget_state as kept
        where until_ms > ${sinceMs} and until_ms <= ${atMs} and closed_at_ms is null and told_percent > 0
          and exists (select from budget where budget.tenant_id = kept.tenant_id and budget.id = kept.budget_id)
        order by until_ms limit ${limit}`;
      return rows.map(toRecord);
    },

    ofBudget: (tenantId, budgetId, period, limit) => ofBudget({ tenantId, budgetId, period, limit }),
  };
}

interface StatesQuery {
  readonly tenantId: string | null;
  readonly budgetId: string;
  readonly period: string;
  readonly limit: number;
}

async function readAll({ query }: Statements, asked: readonly StatesQuery[]): Promise<BudgetRecord[][]> {
  const given = asked.map((one, n) => ({ ...one, n, tenantId: one.tenantId ?? INSTALLATION }));
  const rows = await query<StateRow & { readonly n: number }>`
    select n, told.* from json_to_recordset(${JSON.stringify(given)}::text::json) as given (n integer, "tenantId" text collate "C",
      "budgetId" text collate "C", period text collate "C", "limit" integer)
    cross join lateral (
      select ${columns} from budget_state
      where tenant_id = given."tenantId" and budget_id = given."budgetId" and period = given.period
      order by told_percent desc, account limit given."limit"
    ) as told order by n, told.told_percent desc, told.account`;
  const found = asked.map((): BudgetRecord[] => []);
  for (const { n, ...row } of rows) found[n]?.push(toRecord(row));
  return found;
}

type StateRow = Omit<BudgetRecord, 'id'>;

function toRecord(row: StateRow): BudgetRecord {
  return { ...row, id: budgetRecordId(row) };
}

/** The statement that saves a record and tells webhooks; it returns a row if it saved. */
function saveState(record: BudgetRecord, expectedVersion: number, fact: BudgetTold | undefined): Fragment {
  const { budgetId, period, account, toldPercent, exceededAtMs, closedAtMs, budgetVersion, resetAtMs, version } =
    record;
  const tenantId = record.tenantId ?? INSTALLATION;
  return sql`
    with saved as (
      insert into budget_state as kept (tenant_id, budget_id, period, account, told_percent, exceeded_at_ms, closed_at_ms, budget_version,
        until_ms, version)
      select ${tenantId}, ${budgetId}, ${period}, ${account}, ${toldPercent}, ${exceededAtMs}::bigint, ${closedAtMs}::bigint,
        ${budgetVersion}, ${resetAtMs}::bigint, ${version}
      where ${expectedVersion}::integer = 0 or exists (
        select from budget_state where tenant_id = ${tenantId} and budget_id = ${budgetId} and period = ${period} and account = ${account})
      on conflict (tenant_id, budget_id, period, account) do update set told_percent = excluded.told_percent,
          exceeded_at_ms = excluded.exceeded_at_ms, closed_at_ms = excluded.closed_at_ms, budget_version = excluded.budget_version,
          version = excluded.version
        where kept.version = ${expectedVersion}
      returning tenant_id
    ), ${writeGivenEvents(fact === undefined ? [] : [{ ...fact, tenantId: record.tenantId }])}
    select true as saved from saved`;
}

const columns = sql`
  nullif(tenant_id, ${INSTALLATION}) as "tenantId", budget_id, period, account, told_percent, exceeded_at_ms, closed_at_ms,
  budget_version, until_ms as "resetAtMs", version`;
