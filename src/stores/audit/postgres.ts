import type { AnySql, Database } from '../../database/database.ts';
import { askWalk, MOST_WALKED, pageOfWalks, type Walked } from '../walked.ts';
import type { Audit, AuditEntry, AuditFilter, AuditPosition } from './contract.ts';

/**
 * The audit in PostgreSQL: rows are only ever added, and what came of them is filled in.
 * @param mostWalked how many rows a page of the list looks through
 */
export function createPostgresAudit(database: Database, mostWalked = MOST_WALKED): Audit {
  return {
    async append(entries) {
      const rows = await database.run(
        (sql) => sql<{ ordinal: number }[]>`
          insert into audit (at_ms, actor, role, action, target, tenant_id, reason, request_id, batch_id)
          select "atMs", actor, role, action, target, "tenantId", reason, "requestId", "batchId"
          from json_to_recordset(${JSON.stringify(entries)}::text::json) as given ("atMs" bigint, actor text, role text,
            action text, target text, "tenantId" text, reason text, "requestId" text, "batchId" text)
          returning ordinal`,
      );
      return rows.map(({ ordinal }) => ordinal);
    },

    async settle(ordinals, result, count) {
      await database.run(
        (sql) => sql`
          update audit set result = ${result}, count = ${count ?? null} where ordinal = any(${[...ordinals]}::bigint[])`,
      );
    },

    async latest(action, target, untilMs) {
      const [row] = await database.run(
        (sql) => sql<AuditEntry[]>`
          select ${columns(sql)} from audit
          where target = ${target} and at_ms <= ${untilMs} and action = ${action}
          order by at_ms desc, ordinal limit 1`,
      );
      return row;
    },

    async beginnerOf(batchId) {
      const [row] = await database.run(
        (sql) => sql<{ actor: string }[]>`
          select actor from audit where batch_id = ${batchId} and action = 'sessions.end' order by ordinal limit 1`,
      );
      return row?.actor;
    },

    async list(filter, after, limit) {
      const each = Math.max(1, Math.floor(mostWalked / Math.max(1, filter.tenants?.length ?? 1)));
      const found = await askWalk(database, (sql) => walk(sql, filter, after, limit + 1, each));
      const { hits: entries, last, isPartial } = pageOfWalks(found, limit, each);
      return { entries, next: last && { atMs: last.atMs, ordinal: last.ordinal }, isPartial };
    },
  };
}

/**
 * The hits of a page, and where so many rows were looked through the last of these, hit or not. For who is shown some tenants each of these
 * is walked by itself, and nothing of others: how far a walk through them came would tell how much is done elsewhere.
 */
function walk(sql: AnySql, filter: AuditFilter, after: AuditPosition | undefined, limit: number, mostWalked: number) {
  const { actor, action, target, batchId, fromMs, toMs, tenants } = filter;
  const always = sql`true`;
  const rows = (whose: typeof always) => sql`
    select ${columns(sql)}, row_number() over (order by at_ms desc, ordinal desc) as place,
      ${actor === undefined ? always : sql`actor = ${actor}`}
      and ${action === undefined ? always : sql`action = ${action}`} as "isHit"
    from audit
    where ${whose}
      and ${after === undefined ? always : sql`(at_ms, ordinal) < (${after.atMs}, ${after.ordinal})`}
      and ${fromMs === undefined ? always : sql`at_ms >= ${fromMs}`}
      and ${toMs === undefined ? always : sql`at_ms < ${toMs}`}
      and ${target === undefined ? always : sql`target = ${target}`}
      and ${batchId === undefined ? always : sql`batch_id = ${batchId}`}
    order by at_ms desc, ordinal desc limit ${mostWalked}`;
  const own = sql`
    select own.* from unnest(${[...(tenants ?? [])]}::text[]) as shown (tenant)
      cross join lateral (${rows(sql`tenant_id = tenant`)}) as own`;
  return sql<(AuditEntry & Walked)[]>`
    select * from (${tenants === undefined ? rows(always) : own}) as walked
    where "isHit" or place = ${mostWalked}
    order by "atMs" desc, ordinal desc limit ${limit}`;
}

function columns(sql: AnySql) {
  return sql`
    ordinal, at_ms as "atMs", actor, role, action, target, tenant_id as "tenantId", reason, request_id as "requestId",
    batch_id as "batchId", result, count`;
}
