import type { Database, Sql } from '../../database/database.ts';
import type { KeptRefusal, RefusalCursor, RefusalFilter, Refusals } from './contract.ts';

/** Rows of an index that one page looks at: what finds nothing must end soon, because the embedded engine does one thing at a time. */
const MOST_SEARCHED = 10_000;

type Row = KeptRefusal & { readonly ordinal: number };

/** Refusals in PostgreSQL: rows are only ever added, and found by the indexes of their times. */
export function createPostgresRefusals(database: Database): Refusals {
  return {
    async append(refusals) {
      if (refusals.length === 0) return;
      await database.run(
        (sql) => sql`
          insert into refusal (request_id, at_ms, code, status, layer, route, tenant_id, key_id, subject, origin,
            address_hash, network, detail, node)
          select "requestId", "atMs", code, status, layer, route, "tenantId", "keyId", subject, origin, "addressHash",
            network, detail, node
          from json_to_recordset(${JSON.stringify(refusals)}::text::json) as given ("requestId" text, "atMs" bigint,
            code text, status smallint, layer text, route text, "tenantId" text, "keyId" text, subject text, origin text,
            "addressHash" text, network text, detail jsonb, node text)
          on conflict (request_id) do nothing`,
      );
    },

    async find(requestId, tenants) {
      const [row] = await database.run(
        (sql) => sql<Row[]>`
          select ${columns(sql)} from refusal 
          where request_id = ${requestId} ${tenants === '*' ? sql`` : sql`and tenant_id = any(${[...tenants]}::text[])`}`,
      );
      return row && keptOf(row);
    },

    async list(filter, after, limit) {
      const rows = await database.run((sql) => page(sql, filter, after, limit));
      const searched = rows[0]?.searched ?? 0;
      const found = rows.filter(({ requestId }) => requestId !== null);
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : searched < MOST_SEARCHED ? undefined : rows[0]?.searchedTo;
      return {
        refusals: shown.map(keptOf),
        next: last === undefined || last === null ? undefined : { atMs: last.atMs, ordinal: last.ordinal },
      };
    },
  };
}

type PageRow = Row & { readonly searched: number; readonly searchedTo: RefusalCursor | null };

/**
 * Each row says how far was searched; where nothing was found one row says only that. What may not be seen is not searched: how far a
 * search came would tell of it.
 */
export function page(sql: Sql, filter: RefusalFilter, after: RefusalCursor | undefined, limit: number) {
  const { code, keyId, network, subject } = filter;
  return sql<PageRow[]>`
    with walked as materialized (${walk(sql, filter, after)}), found as (
      select * from walked
      where true
        ${code === undefined ? sql`` : sql`and code = ${code}`}
        ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`}
        ${network === undefined ? sql`` : sql`and network = ${network}`}
        ${subject === undefined ? sql`` : sql`and subject = ${subject}`}
      order by at_ms desc, ordinal desc limit ${limit + 1}
    ), searched as (
      select count(*) as searched, (select json_build_object('atMs', at_ms, 'ordinal', ordinal)
        from walked order by at_ms, ordinal limit 1) as "searchedTo"
      from walked
    )
    select ${columns(sql)}, searched, "searchedTo" from searched left join found on true order by at_ms desc, ordinal desc`;
}

/**
 * The newest of some tenants are the newest of the newest of each. A filter that no index of theirs holds is none of the walk, which would
 * not end where nothing is like that.
 */
function walk(sql: Sql, { code, keyId, fromMs, toMs, tenants }: RefusalFilter, after: RefusalCursor | undefined) {
  const before = after ?? { atMs: toMs, ordinal: Number.MAX_SAFE_INTEGER };
  const within = sql`at_ms >= ${fromMs} and (at_ms, ordinal) < (${before.atMs}, ${before.ordinal})`;
  const newest = sql`order by at_ms desc, ordinal desc limit ${MOST_SEARCHED}`;
  if (tenants === '*')
    return sql`select * from refusal where ${within} ${code === undefined ? sql`` : sql`and code = ${code}`} ${newest}`;
  return sql`
    select refusal.* from unnest(${[...tenants]}::text[]) as asked (tenant)
      cross join lateral (
        select * from refusal
        where tenant_id = tenant and ${within} ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`} ${newest}
      ) as refusal
    ${newest}`;
}

function columns(sql: Sql) {
  return sql`ordinal, request_id as "requestId", at_ms as "atMs", code, status, layer, route, tenant_id as "tenantId",
    key_id as "keyId", subject, origin, address_hash as "addressHash", network, detail, node`;
}

/** Without what a row says beside it. */
function keptOf({
  ordinal: _ordinal,
  searched: _searched,
  searchedTo: _searchedTo,
  ...kept
}: Partial<PageRow> & KeptRefusal): KeptRefusal {
  return kept;
}
