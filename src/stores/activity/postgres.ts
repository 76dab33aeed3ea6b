import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { TenantScope } from '../tenants/contract.ts';
import {
  MAX_ROWS,
  type ActivityStore,
  type BucketCount,
  type KeyCounted,
  type CountChange,
  type RefusedFilter,
  type Span,
} from './contract.ts';

/** Each row tells how many rows were read; the row with kind null tells only that. */
interface ScannedRow {
  readonly scanned: number;
  readonly kind: string | null;
}

/** Counts either a code or a bucket: the field of the other is null. */
interface RefusedRow extends ScannedRow {
  readonly label: string | null;
  readonly atMs: number | null;
  readonly count: number;
}

/** Activity in PostgreSQL. Rows are written in the order of their key, so that nodes that share a shard cannot deadlock. */
export function createPostgresActivity(database: Database): ActivityStore {
  const { query, write } = statementsOf(database);
  return {
    async add(counted, atMs, shard) {
      if (counted.length === 0) return;
      const [minute, hour] = [atMs - (atMs % MINUTE_MS), atMs - (atMs % HOUR_MS)];
      await write`
        insert into activity (span, bucket_ms, kind, label, tenant_id, key_id, shard, n)
        select span, bucket_ms, kind, label, "tenantId", "keyId", ${shard}, sum(n)::int8
        from json_to_recordset(${JSON.stringify(counted)}::text::json) as given (kind text collate "C",
            label text collate "C", "tenantId" text collate "C", "keyId" text collate "C", n bigint),
          (values (1, ${minute}::int8), (60, ${hour}::int8)) as bucket (span, bucket_ms)
        group by span, bucket_ms, kind, label, "tenantId", "keyId"
        order by span, bucket_ms, kind, label, "tenantId", "keyId"
        on conflict (span, bucket_ms, kind, label, tenant_id, key_id, shard) do update set n = activity.n + excluded.n`;
    },

    async sums(span, fromMs, midMs, toMs, tenants) {
      return countedIn(await query<CountChange & ScannedRow>`${sums(midMs, buckets(span, fromMs, toMs, tenants))}`);
    },

    async moved(span, fromMs, midMs, toMs, tenants) {
      const rows = await query<CountChange & ScannedRow>`${sums(midMs, someBuckets(span, fromMs, toMs, tenants))}`;
      return isTooMuch(rows) ? undefined : countedIn(rows);
    },

    async byBucket(span, stretches, tenants) {
      const rows = await query<BucketCount & ScannedRow>`
        with scanned as materialized (
          select found.* from json_to_recordset(${JSON.stringify(stretches)}::text::json) as stretch ("fromMs" bigint, "toMs" bigint)
          cross join lateral (
            ${buckets(span, sql`stretch."fromMs"`, sql`stretch."toMs"`, tenants)}
          ) as found limit ${MAX_ROWS + 1}
        )
        select bucket_ms as "atMs", kind, label, coalesce(sum(n), 0)::int8 as n, (select count(*) from scanned) as scanned
        from scanned group by grouping sets ((bucket_ms, kind, label), ()) order by bucket_ms, kind, label`;
      return isTooMuch(rows) ? undefined : countedIn(rows);
    },

    async refused(span, fromMs, toMs, filter) {
      const rows = await query<RefusedRow>`${refusedRows(someBuckets(span, fromMs, toMs, filter.tenants), filter)}`;
      if (isTooMuch(rows)) return undefined;
      const byCode = (wanted: RefusedRow['kind']) =>
        Object.fromEntries(
          rows.flatMap(({ kind, label, count }) => (kind === wanted && label !== null ? [[label, count]] : [])),
        );
      const series = rows.flatMap(({ kind, atMs, count }) =>
        kind === 'refused' && atMs !== null ? [{ atMs, count }] : [],
      );
      return { counted: byCode('refused'), kept: byCode('kept'), series };
    },

    async ofKeys(kinds, span, fromMs, toMs, tenants) {
      const rows = await query<KeyCounted & ScannedRow>`
        with scanned as materialized (${someBuckets(span, fromMs, toMs, tenants)})
        select kind, tenant_id, key_id, label, coalesce(sum(n), 0)::int8 as n,
          (select count(*) from scanned) as scanned
        from scanned where kind = any(${kinds}::text[]) and key_id <> ''
        group by grouping sets ((kind, tenant_id, key_id, label), ()) order by kind, tenant_id, key_id, label`;
      return isTooMuch(rows) ? undefined : countedIn(rows);
    },
  };
}

function isTooMuch(rows: readonly ScannedRow[]): boolean {
  return rows.some(({ scanned }) => scanned > MAX_ROWS);
}

function countedIn<R extends ScannedRow>(rows: readonly R[]): Omit<R, 'scanned'>[] {
  return rows.flatMap(({ scanned: _scanned, ...counted }) => (counted.kind === null ? [] : [counted]));
}

function sums(midMs: number, scan: Fragment): Fragment {
  return sql`
    with scanned as materialized (${scan})
    select kind, label, coalesce(sum(n) filter (where bucket_ms >= ${midMs}), 0)::int8 as now,
      coalesce(sum(n) filter (where bucket_ms < ${midMs}), 0)::int8 as before, (select count(*) from scanned) as scanned
    from scanned group by grouping sets ((kind, label), ()) order by kind, label`;
}

/** No index serves this filter: rows that it leaves out count as read too. */
function refusedRows(scan: Fragment, { keyId, code, shard }: RefusedFilter): Fragment {
  return sql`
    with scanned as materialized (${scan})
    select kind, label, bucket_ms as "atMs", coalesce(sum(n), 0)::int8 as count, (select count(*) from scanned) as scanned
    from scanned
    where kind in ('refused', 'kept')
      and ${code === undefined ? sql`true` : sql`label = ${code}`}
      and ${keyId === undefined ? sql`true` : sql`key_id = ${keyId}`}
      and ${shard === undefined ? sql`true` : sql`shard = ${shard}`}
    group by grouping sets ((kind, label), (kind, bucket_ms), ()) order by bucket_ms, label`;
}

/** Reads one row more than allowed, to tell that there are more. */
function someBuckets(span: Span, fromMs: number, toMs: number, tenants: TenantScope): Fragment {
  return sql`${buckets(span, fromMs, toMs, tenants)} limit ${MAX_ROWS + 1}`;
}

/** An index finds the rows of named tenants. */
function buckets(span: Span, fromMs: number | Fragment, toMs: number | Fragment, tenants: TenantScope): Fragment {
  return sql`
    select bucket_ms, kind, label, tenant_id, key_id, shard, n from activity
    where span = ${span} and bucket_ms >= ${fromMs} and bucket_ms < ${toMs}
      ${tenants === '*' ? sql`` : sql`and tenant_id = any(${tenants}::text[])`}`;
}
