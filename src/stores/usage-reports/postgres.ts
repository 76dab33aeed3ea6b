import type { Database, Sql } from '../../database/database.ts';
import type { UsageBy } from '../../protocol/operator/usage.ts';
import type { UsageTotals } from '../ledger/contract.ts';
import { MAX_SCANNED, type UsageAsked, type UsageReports, type UsageRow } from './contract.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { scan, scanSince } from './scan.ts';

interface Answer {
  readonly scanned: number;
  readonly rows: readonly UsageRow[];
  readonly series: readonly (UsageTotals & { readonly at: string | number })[];
  readonly total: UsageTotals;
  readonly unattributed: UsageTotals;
}

interface Named extends UsageTotals {
  readonly id: string;
}

/** Usage reports from what is rolled up, and from the entries of sessions. */
export function createPostgresUsageReports(database: Database): UsageReports {
  return {
    async read(asked) {
      const after = asked.cursor === undefined ? null : readCursor(asked.cursor);
      if (after === undefined) return 'bad_cursor';
      // One row more than asked for tells whether there is a next page.
      const [answer] = await database.run((sql) => report(sql, asked, after));
      if (answer === undefined) throw new Error('a sum has one row');
      const { scanned, series, total, unattributed } = answer;
      if (scanned > MAX_SCANNED) return 'too_broad';
      const rows = answer.rows.slice(0, asked.limit);
      const last = rows.at(-1);
      const nextCursor = answer.rows.length > asked.limit && last !== undefined ? writeCursor(last) : undefined;
      return { rows, nextCursor, series, total, unattributed };
    },

    async since(by, sinceMs, tenants) {
      const rows = await database.run((sql) => sumSince(sql, by, sinceMs, tenants));
      return rows.some(({ scanned }) => scanned > MAX_SCANNED) ? undefined : byId(rows);
    },

    async ofSessions(ids) {
      if (ids.length === 0) return new Map();
      const rows = await database.run(
        (sql) => sql<Named[]>`
          select session_id as id, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as "microDollars"
          from usage_entry where session_id = any(${[...ids]}::text[]) group by session_id`,
      );
      return byId(rows);
    },

    async callersOf(subjects) {
      if (subjects.length === 0) return new Map();
      // Ids begin with their subject; the semicolon is the character after the colon.
      const rows = await database.run(
        (sql) => sql<{ subject: string; caller: 'widget' | 'console' }[]>`
          select subject, session.caller from unnest(${[...subjects]}::text[]) as asked (subject)
          cross join lateral (
            select caller from voice_session
            where id > 's:' || asked.subject || ':' and id < 's:' || asked.subject || ';' limit 1
          ) as session`,
      );
      return new Map(rows.map(({ subject, caller }) => [subject, caller]));
    },
  };
}

function byId(rows: readonly Named[]): Map<string, UsageTotals> {
  return new Map(rows.map(({ id, tokens, microDollars }) => [id, { tokens, microDollars }]));
}

/** Page, series and sums in one statement, so that they agree. */
function report(sql: Sql, asked: UsageAsked, after: Pick<UsageRow, 'microDollars' | 'tokens' | 'id'> | null) {
  const amounts = sql`
    coalesce(sum(tokens), 0)::bigint as tokens, coalesce(sum(micro_dollars), 0)::bigint as "microDollars"`;
  const isAfter =
    after === null
      ? sql`true`
      : sql`("microDollars", tokens, id) < (${after.microDollars}::bigint, ${after.tokens}::bigint, ${after.id}::text collate "C")`;
  return sql<Answer[]>`
    with scanned as materialized (${scan(sql, asked)}),
    used as (select * from scanned where meant),
    grouped as (
      select id collate "C" as id,
        case when min(tenant_id) = max(tenant_id) then nullif(min(tenant_id), '') end as "tenantId",
        case when min(key_id) = max(key_id) then nullif(min(key_id), '') end as "keyId", ${amounts}
      from used where id is not null group by id
    )
    select (select count(*) from scanned) as scanned,
      (select coalesce(json_agg(page), '[]') from (
        select * from grouped where ${isAfter} order by "microDollars" desc, tokens desc, id desc limit ${asked.limit + 1}
      ) as page) as rows,
      (select coalesce(json_agg(point), '[]') from (select at, ${amounts} from used group by at order by at) as point) as series,
      (select row_to_json(sums) from (select ${amounts} from used) as sums) as total,
      (select row_to_json(sums) from (select ${amounts} from used where id is null) as sums) as unattributed`;
}

function sumSince(sql: Sql, by: UsageBy, sinceMs: number, tenants: readonly string[] | undefined) {
  return sql<(Named & { readonly scanned: number })[]>`
    with scanned as materialized (${scanSince(sql, by, sinceMs, tenants)})
    select coalesce(id, '') as id, (select count(*) from scanned) as scanned, sum(tokens)::bigint as tokens,
      sum(micro_dollars)::bigint as "microDollars"
    from scanned where meant group by id`;
}
