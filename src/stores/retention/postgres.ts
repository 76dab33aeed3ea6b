import { PATIENT, type Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { CHUNK, type Purgeable, type Retention } from './contract.ts';
import { deletion, deletionOf } from './delete-expired.ts';
import { foldUsageHours } from './fold-usage-hours.ts';

/** Retention in PostgreSQL. Each statement finds its rows by an index, however large the table is, except in the small table of addresses. */
export function createPostgresRetention(database: Database): Retention {
  const { first, execute, value } = statementsOf(database, PATIENT);
  const deleteSome = (kind: Purgeable, before: number | string): Promise<number> => execute`${deletion(kind, before)}`;
  return {
    deleteSome,
    deleteDays: deleteSome,
    async refusalsBeyond(most) {
      if (!(await mayHave(database, most))) return undefined;
      let last: Place | undefined;
      for (let left = most; left > 0; left -= STRIDE) {
        last = await first<Place>`${refusalAfter(last, Math.min(STRIDE, left))}`;
        if (last === undefined) return undefined;
      }
      return last?.atMs;
    },
    // Scans the whole table: rows are short, and there is one for each address that ever logged in.
    deleteAddresses: (beforeMs, rowPrefix) => {
      const isOver = sql`
        greatest(logged_in_at_ms, lifted_at_ms) < ${beforeMs} and not exists (select from counter where key = ${rowPrefix} || subject)`;
      return execute`${deletionOf('login_address', sql`${isOver} limit ${CHUNK}`)}`;
    },
    foldHours: (beforeMs) => value<number>`${foldUsageHours(beforeMs)}`,
  };
}

/** How many index entries one statement skips. */
const STRIDE = 100_000;

interface Place {
  readonly atMs: number;
  readonly ordinal: number;
}

/** Whether the journal may have this many refusals, judged by PostgreSQL's statistics rather than by counting. */
async function mayHave(database: Database, most: number): Promise<boolean> {
  const rows = await statementsOf(database).value<number | undefined>`
    select greatest(n_live_tup, reltuples::int8)
    from pg_stat_user_tables join pg_class on pg_class.oid = relid where relid = 'journal'::regclass`;
  return rows !== undefined && rows >= most;
}

/** The refusal that comes `places` places after another one, or from the beginning, from the newest to the oldest. */
function refusalAfter(last: Place | undefined, places: number): Fragment {
  return sql`
    select at_ms, ordinal from journal
    where kind = 'refusal' ${last === undefined ? sql`` : sql`and (at_ms, ordinal) < (${last.atMs}, ${last.ordinal})`}
    order by at_ms desc, ordinal desc offset ${places - 1} limit 1`;
}
