import type { AnySql, Database } from '../../database/database.ts';
import { askWalk, MOST_WALKED, pageOfWalks, type Walked } from '../walked.ts';
import type { KeptRefusal, RefusalCursor, RefusalFilter, Refusals } from './contract.ts';

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
      const found = await askWalk(database, (sql) => walk(sql, filter, after, limit + 1));
      const { hits, last } = pageOfWalks(found, limit, mostWalkedOf(filter));
      return { refusals: hits.map(keptOf), next: last && { atMs: last.atMs, ordinal: last.ordinal } };
    },
  };
}

/** Of each tenant that is asked for. */
function mostWalkedOf({ tenants }: RefusalFilter): number {
  return tenants === '*' ? MOST_WALKED : Math.max(1, Math.floor(MOST_WALKED / Math.max(1, tenants.length)));
}

/**
 * The hits of a page, and where so many rows were looked through the last of these, hit or not. Of some tenants each is walked by itself:
 * how far a walk through what is of others came would tell how much that is. A filter that no index holds is none of the walk, which would
 * not end where nothing is like that.
 */
export function walk(sql: AnySql, filter: RefusalFilter, after: RefusalCursor | undefined, limit: number) {
  const { code, keyId, network, subject, fromMs, toMs, tenants } = filter;
  const before = after ?? { atMs: toMs, ordinal: Number.MAX_SAFE_INTEGER };
  const mostWalked = mostWalkedOf(filter);
  const always = sql`true`;
  const ofCode = code === undefined ? always : sql`code = ${code}`;
  const ofKey = keyId === undefined ? always : sql`key_id = ${keyId}`;
  const rows = (indexed: typeof always, others: typeof always) => sql`
    select ${columns(sql)}, row_number() over (order by at_ms desc, ordinal desc) as place,
      coalesce(${others}
        and ${network === undefined ? always : sql`network = ${network}`}
        and ${subject === undefined ? always : sql`subject = ${subject}`}, false) as "isHit"
    from refusal
    where ${indexed} and at_ms >= ${fromMs} and (at_ms, ordinal) < (${before.atMs}, ${before.ordinal})
    order by at_ms desc, ordinal desc limit ${mostWalked}`;
  const own = sql`
    select own.* from unnest(${tenants === '*' ? [] : [...tenants]}::text[]) as asked (tenant)
      cross join lateral (${rows(sql`tenant_id = tenant and ${ofKey}`, ofCode)}) as own`;
  return sql<(Row & Walked)[]>`
    select * from (${tenants === '*' ? rows(ofCode, ofKey) : own}) as walked
    where "isHit" or place = ${mostWalked}
    order by "atMs" desc, ordinal desc limit ${limit}`;
}

function columns(sql: AnySql) {
  return sql`ordinal, request_id as "requestId", at_ms as "atMs", code, status, layer, route, tenant_id as "tenantId",
    key_id as "keyId", subject, origin, address_hash as "addressHash", network, detail, node`;
}

function keptOf({ ordinal: _ordinal, ...kept }: Row): KeptRefusal {
  return kept;
}
