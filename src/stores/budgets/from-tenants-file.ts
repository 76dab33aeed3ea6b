import type { AnySql } from '../../database/database.ts';
import { sql as part } from '../../database/statements.ts';
import { refuseCrowded } from '../tenants/crowded-contract.ts';
import { INSTALLATION } from '../tenants/tenant-column.ts';
import type { Budget, FileBudgets, NewBudget } from './budget-contract.ts';
import { insertAll, rowOf } from './postgres.ts';

/**
 * Adds the budgets of the tenants file, and changes those that the file itself has changed since the last merge.
 * @throws TooManyInFile
 */
export async function mergeBudgets(sql: AnySql, { budgets, tenantIds, day }: FileBudgets): Promise<void> {
  const named = tenantIds.map((id) => id ?? INSTALLATION);
  const ids = budgets.map(({ tenantId, id }) => `${tenantId ?? INSTALLATION}/${id}`);
  // Whoever adds one elsewhere waits, and then counts these.
  await sql`lock table budget in share row exclusive mode`;
  const kept = await sql<Pick<Budget, 'id' | 'tenantId'>[]>`
    select id, nullif(tenant_id, ${INSTALLATION}) as tenant_id from budget where tenant_id = any(${named}::text[])`;
  refuseCrowded('budgets', budgets, kept);
  await sql`
    update budget set in_file = null
    where tenant_id = any(${named}::text[]) and in_file is not null and not (tenant_id || '/' || id = any(${ids}::text[]))`;
  if (budgets.length > 0) await mergeAll(sql, budgets, day);
}

/** A budget that counts once and names no first day begins on the day of its first merge, even if a later merge changes other fields. */
async function mergeAll(sql: AnySql, budgets: readonly NewBudget[], day: string): Promise<void> {
  const rows = budgets.map((budget) => {
    const { of, period, from, microDollars, tokens, microMinutes, warnAt, atLimit, tell } = budget;
    const begins = from ?? (period === 'once' ? day : null);
    // Left out if null, so that entries merged by a version without minutes do not look changed.
    const minutes = microMinutes === null ? {} : { microMinutes };
    return {
      ...rowOf(budget),
      from: begins,
      inFile: { of, period, from, microDollars, tokens, ...minutes, warnAt, atLimit, ...(tell !== null && { tell }) },
    };
  });
  await insertAll(
    sql,
    rows,
    part`
      update set of_what = excluded.of_what, period = excluded.period, micro_dollars = excluded.micro_dollars,
        from_day = case when excluded.in_file ->> 'from' is null and kept.period = excluded.period then kept.from_day
          else excluded.from_day end,
        tokens = excluded.tokens, micro_minutes = excluded.micro_minutes, warn_at = excluded.warn_at, at_limit = excluded.at_limit,
        tell = excluded.tell, made_by = excluded.made_by,
        in_file = excluded.in_file, version = kept.version + 1, changed_at_ms = excluded.changed_at_ms
      where kept.in_file is distinct from excluded.in_file`,
  );
}
