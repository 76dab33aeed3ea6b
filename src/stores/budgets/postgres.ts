import { type AnySql, type Database, LOCK_CLASSES } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { refuseCrowded } from '../tenants/contract.ts';
import { INSTALLATION } from '../scanned-page.ts';
import type { FileBudgets } from './budget-contract.ts';
import type { Budget, Budgets, NewBudget } from './contract.ts';

/** Budgets in PostgreSQL. */
export function createPostgresBudgets(database: Database): Budgets {
  const { query, some } = statementsOf(database);
  return {
    all: () => query<Budget>`select ${columns} from budget order by tenant_id, id`,

    insert: (budget, most) =>
      database.transaction(async (sql) => {
        const tenantId = budget.tenantId ?? INSTALLATION;
        // Waits for a merge of the tenants file, and then counts its budgets.
        await sql`lock table budget in row exclusive mode`;
        // Inserts for one tenant take turns, so that two at once cannot together exceed the limit.
        await sql`select pg_advisory_xact_lock(${LOCK_CLASSES.budgets}::integer, hashtext(${tenantId}))`;
        const ids = await sql<{ id: string }[]>`select id from budget where tenant_id = ${tenantId}`;
        if (ids.some(({ id }) => id === budget.id)) return 'taken';
        if (ids.length >= most) return 'too_many';
        const [made] = await insertAll(sql, [{ ...rowOf(budget), inFile: null }], sql`nothing`);
        return made ?? 'taken';
      }),

    save: (
      { tenantId, id, microDollars, tokens, microMinutes, warnAt, atLimit, tell, madeBy, changedAtMs },
      expectedVersion,
    ) => some`
        update budget set micro_dollars = ${microDollars}, tokens = ${tokens}, micro_minutes = ${microMinutes},
          warn_at = ${JSON.stringify(warnAt)}::text::jsonb, at_limit = ${atLimit}, tell = ${listOf(tell)}::text::jsonb,
          made_by = ${madeBy}, version = version + 1, changed_at_ms = ${changedAtMs}
        where tenant_id = ${tenantId ?? INSTALLATION} and id = ${id} and version = ${expectedVersion}`,

    delete: (tenantId, id) =>
      some`delete from budget where tenant_id = ${tenantId ?? INSTALLATION} and id = ${id} and in_file is null`,
  };
}

/**
 * Adds the budgets of the tenants file, and changes those that the file itself has changed since the last merge.
 * @throws TooManyInFile
 */
export async function mergeBudgets(tx: AnySql, { budgets, tenantIds, day }: FileBudgets): Promise<void> {
  const named = tenantIds.map((id) => id ?? INSTALLATION);
  const ids = budgets.map(({ tenantId, id }) => `${tenantId ?? INSTALLATION}/${id}`);
  // Whoever adds one elsewhere waits, and then counts these.
  await tx`lock table budget in share row exclusive mode`;
  const kept = await tx<Pick<Budget, 'id' | 'tenantId'>[]>`
    select id, nullif(tenant_id, ${INSTALLATION}) as tenant_id from budget where tenant_id = any(${named}::text[])`;
  refuseCrowded('budgets', budgets, kept);
  await tx`
    update budget set in_file = null
    where tenant_id = any(${named}::text[]) and in_file is not null and not (tenant_id || '/' || id = any(${ids}::text[]))`;
  if (budgets.length > 0) await mergeAll(tx, budgets, day);
}

/** A budget that counts once and names no first day begins on the day of its first merge, even if a later merge changes other fields. */
async function mergeAll(tx: AnySql, budgets: readonly NewBudget[], day: string): Promise<void> {
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
    tx,
    rows,
    sql`
      update set of_what = excluded.of_what, period = excluded.period, micro_dollars = excluded.micro_dollars,
        from_day = case when excluded.in_file ->> 'from' is null and kept.period = excluded.period then kept.from_day
          else excluded.from_day end,
        tokens = excluded.tokens, micro_minutes = excluded.micro_minutes, warn_at = excluded.warn_at, at_limit = excluded.at_limit,
        tell = excluded.tell, made_by = excluded.made_by,
        in_file = excluded.in_file, version = kept.version + 1, changed_at_ms = excluded.changed_at_ms
      where kept.in_file is distinct from excluded.in_file`,
  );
}

/** The budget's row. */
function rowOf({ tenantId, ...budget }: NewBudget) {
  return { ...budget, tenantId: tenantId ?? INSTALLATION };
}

/** Inserts rows of budgets. @param onConflict what is done with those that are there */
function insertAll(
  sql: AnySql,
  rows: readonly (ReturnType<typeof rowOf> & { readonly inFile: object | null })[],
  onConflict: Fragment,
) {
  return sql<Budget[]>`
    insert into budget as kept (tenant_id, id, of_what, period, from_day, micro_dollars, tokens, micro_minutes, warn_at, at_limit, tell,
      made_by, in_file, version, changed_at_ms)
    select "tenantId", id, "of", period, "from", "microDollars", tokens, "microMinutes", "warnAt", "atLimit",
      nullif(tell, 'null'::jsonb), "madeBy", "inFile", 1 + coalesce(
      (select max(budget_version) from budget_state where tenant_id = "tenantId" and budget_id = id), 0), "changedAtMs"
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given ("tenantId" text, id text, "of" text, period text, "from" text,
      "microDollars" bigint, tokens bigint, "microMinutes" bigint, "warnAt" jsonb, "atLimit" text, tell jsonb, 
      "madeBy" text, "inFile" jsonb, "changedAtMs" bigint)
    order by "tenantId" collate "C", id collate "C"
    on conflict (tenant_id, id) do ${onConflict}
    returning ${columns}`;
}

function listOf(addresses: readonly string[] | null): string | null {
  return addresses === null ? null : JSON.stringify(addresses);
}

const columns = sql`
  nullif(tenant_id, ${INSTALLATION}) as "tenantId", id, of_what as "of", period, from_day as "from", micro_dollars,
  tokens, micro_minutes, warn_at, at_limit, tell, made_by, in_file is not null as "isInFile", version, changed_at_ms`;
