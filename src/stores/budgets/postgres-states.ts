import { budgetRecordId } from '../../../machines/budget/selectors.ts';
import type { BudgetRecord } from '../../../machines/budget/types.ts';
import type { AnySql, Database } from '../../database/database.ts';
import { appended } from '../journal/postgres.ts';
import type { BudgetStates } from './contract.ts';
import { INSTALLATION } from '../tenants/installation.ts';

/** What operators were told of budgets, in PostgreSQL. */
export function createPostgresBudgetStates(database: Database): BudgetStates {
  return {
    async load(of) {
      const [row] = await database.run(
        (sql) => sql<StateRow[]>`
          select ${columns(sql)} from budget_state
          where tenant_id = ${of.tenantId ?? INSTALLATION} and budget_id = ${of.budgetId} and period = ${of.period}
            and account = ${of.account}`,
      );
      return row && { ...row, id: of.id };
    },

    save: (record, expectedVersion, fact) =>
      database.transaction(async (sql) => {
        const { tenantId, budgetId, period, account, toldPercent, exceededAtMs, budgetVersion, resetAtMs, version } =
          record;
        const { count } = await sql`
          insert into budget_state as kept (tenant_id, budget_id, period, account, told_percent, exceeded_at_ms, budget_version, until_ms,
            version)
          select ${tenantId ?? INSTALLATION}, ${budgetId}, ${period}, ${account}, ${toldPercent}, ${exceededAtMs}::bigint, ${budgetVersion},
            ${resetAtMs}::bigint, ${version}
          where ${expectedVersion}::integer = 0 or exists (
            select from budget_state where tenant_id = ${tenantId ?? INSTALLATION} and budget_id = ${budgetId} and period = ${period}
              and account = ${account})
          on conflict (tenant_id, budget_id, period, account) do update set told_percent = excluded.told_percent,
              exceeded_at_ms = excluded.exceeded_at_ms, budget_version = excluded.budget_version, version = excluded.version
            where kept.version = ${expectedVersion}`;
        if (count === 0) return false;
        if (fact !== undefined) await appended(sql, [fact]);
        return true;
      }),

    async ofBudget(tenantId, budgetId, period, limit) {
      const rows = await database.run(
        (sql) => sql<StateRow[]>`
          select ${columns(sql)} from budget_state
          where tenant_id = ${tenantId ?? INSTALLATION} and budget_id = ${budgetId} and period = ${period}
          order by told_percent desc, account limit ${limit}`,
      );
      return rows.map((row) => ({ ...row, id: budgetRecordId(row) }));
    },
  };
}

type StateRow = Omit<BudgetRecord, 'id'>;

function columns(sql: AnySql) {
  return sql`
    nullif(tenant_id, ${INSTALLATION}) as "tenantId", budget_id as "budgetId", period, account, told_percent as "toldPercent",
    exceeded_at_ms as "exceededAtMs", budget_version as "budgetVersion", until_ms as "resetAtMs", version`;
}
