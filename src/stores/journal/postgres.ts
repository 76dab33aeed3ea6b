import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { hitsIn, runScan, MAX_SCANNED, pageOfScans, type Scanned } from '../scanned-page.ts';
import {
  MAX_TALLIED,
  type About,
  type Entry,
  type EntryKind,
  type Journal,
  type JournalPosition,
  type JournalQuery,
  type NewEntry,
  type TargetTally,
} from './contract.ts';

const MAX_LOST = 100;

type Row = Omit<Entry, 'of'> & { readonly [F in keyof Required<About>]: About[F] | null };

/**
 * The journal in PostgreSQL: rows are only ever added, and the results of acts are filled in.
 * @param maxScanned how many rows a page of a list scans at most
 */
export function createPostgresJournal(database: Database, maxScanned = MAX_SCANNED): Journal {
  const { query, first, column, value, write } = statementsOf(database);
  return {
    async append(entries) {
      if (entries.length > 0) await write`${appended(entries)}`;
    },

    async settle(ids, result, count) {
      const known = JSON.stringify({ result, count: count ?? null });
      await write`
        update journal set detail = detail || ${known}::text::jsonb where id = any(${ids}::text[])`;
    },

    async list<K extends EntryKind>(asked: JournalQuery<K>, after: JournalPosition | undefined, limit: number) {
      const most = maxScannedOf(asked, maxScanned);
      const statement = scan(asked, after, limit + 1, most);
      // With these filters, no query plan walks through rows of other actors or other requests.
      const isExact = asked.machine !== undefined || asked.requestId !== undefined;
      const found = await (isExact ? query<Row & Scanned>`${statement}` : runScan<Row & Scanned>(database, statement));
      const { hits, last, isPartial } = pageOfScans(found, limit, most);
      return { entries: hits.map(toEntry<K>), next: last && { atMs: last.atMs, ordinal: last.ordinal }, isPartial };
    },

    tally: (targets) =>
      runScan<TargetTally>(
        database,
        sql`
          select target, kind, code, count(*)::int8 as count from (
            select target, kind, code from journal
            where target = any(${targets}::text[]) and kind in ('transition', 'note', 'act') limit ${MAX_TALLIED}
          ) as counted group by target, kind, code`,
      ),

    actorsOf: (machine, requestId, limit) => column<string>`
      select target from journal where kind = 'transition' and request_id = ${requestId} and machine = ${machine}
      group by target order by max(at_ms) desc, max(ordinal) desc limit ${limit}`,

    async lostWithin(fromMs, toMs) {
      const rows = await query<Row>`
        select ${columns} from journal
        where kind = 'lost' and at_ms >= ${fromMs} and (detail ->> 'fromMs')::int8 <= ${toMs}
        order by at_ms desc, ordinal desc limit ${MAX_LOST}`;
      return rows.map(toEntry<'lost'>);
    },

    async latestAct(action, target, untilMs) {
      const row = await first<Row>`
        select ${columns} from journal
        where target = ${target} and kind = 'act' and code = ${action} and at_ms <= ${untilMs}
        order by at_ms desc, ordinal limit 1`;
      return row && toEntry<'act'>(row);
    },

    // One index lookup for each actor, however many acts there are.
    whoActed: () => column<string>`
      with recursive each (actor) as (
        select min(actor) from journal where kind = 'act' and actor is not null
        union all
        select (select min(actor) from journal where kind = 'act' and actor > each.actor)
        from each where each.actor is not null
      )
      select actor from each where actor is not null`,

    beginnerOf: (batchId) => value<string | undefined>`
      select actor from journal where batch_id = ${batchId} and kind = 'act' and code = 'sessions.end'
      order by at_ms, ordinal limit 1`,
  };
}

/** The statement that appends entries; it can also be part of the transaction of the change that they report. */
export function appended(entries: readonly NewEntry[]): Fragment {
  const rows = entries.map(({ of, ...entry }) => ({ ...entry, ...of }));
  return sql`
    insert into journal (id, kind, at_ms, node, request_id, tenant_id, key_id, subject, machine, target, actor, batch_id,
      part_of, code, detail)
    select id, kind, "atMs", node, "requestId", "tenantId", "keyId", subject, machine, target, actor, "batchId", "partOf",
      code, detail
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (id text, kind text, "atMs" bigint, node text,
      "requestId" text, "tenantId" text, "keyId" text, subject text, machine text, target text, actor text,
      "batchId" text, "partOf" text, code text, detail jsonb)
    on conflict do nothing`;
}

/** How many rows may be scanned for each of the requested tenants. */
function maxScannedOf({ tenants }: JournalQuery<EntryKind>, maxScanned: number): number {
  return tenants === '*' ? maxScanned : Math.max(1, Math.floor(maxScanned / Math.max(1, tenants.length)));
}

/**
 * The hits of a page and, if `maxScanned` rows were scanned, the last of those, hit or not. Named tenants are scanned one by one: how far a scan
 * through other tenants' rows came would reveal how many there are. A condition that no index covers decides what is a hit but does not narrow the
 * scan, which otherwise would not end if nothing matches.
 */
export function scan(
  query: JournalQuery<EntryKind>,
  after: JournalPosition | undefined,
  limit: number,
  maxScanned = maxScannedOf(query, MAX_SCANNED),
): Fragment {
  const { kinds, tenants, fromMs, beforeMs, machine, target, requestId, batchId } = query;
  const { code, keyId, subject, network, actor, isFolded = false } = query;
  const when = (value: unknown, condition: Fragment) => (value === undefined ? sql`` : condition);
  const ofCode = when(code, sql`and ${isOneOf(sql`code`, code ?? '')}`);
  const ofKey = when(keyId, sql`and key_id = ${keyId ?? ''}`);
  const ofActor = when(actor, sql`and actor = ${actor ?? ''}`);
  const areRefusals = kinds.every((kind) => kind === 'refusal');
  const ofSubject = when(subject, sql`and subject = ${subject ?? ''}`);
  const rows = (whose: Fragment, others: Fragment) => sql`
    select ${columns}, row_number() over (order by at_ms desc, ordinal desc) as place,
      coalesce(true ${others}
        ${ofActor}
        ${when(network, sql`and detail ->> 'network' = ${network ?? ''}`)}, false) as "isHit"
    from journal
    where ${ofKinds(kinds)} ${whose}
      ${when(machine, sql`and machine = ${machine ?? ''}`)}
      ${when(target, sql`and ${isOneOf(sql`target`, target ?? '')}`)}
      ${when(requestId, sql`and request_id = ${requestId ?? ''}`)}
      ${when(batchId, sql`and batch_id = ${batchId ?? ''}`)}
      ${when(fromMs, sql`and at_ms >= ${fromMs ?? 0}`)}
      ${when(beforeMs, sql`and at_ms < ${beforeMs ?? 0}`)}
      ${when(after, sql`and (at_ms, ordinal) < (${after?.atMs ?? 0}, ${after?.ordinal ?? 0})`)}
    order by at_ms desc, ordinal desc limit ${maxScanned}`;
  // Acts have an index by actor, and refusals have their own indexes: a subject has few refusals, and only the index by subject finds them.
  const [ofAll, ofOwn, others] = !areRefusals
    ? [ofActor, sql``, sql`${ofSubject} ${ofCode} ${ofKey}`]
    : subject === undefined
      ? [ofCode, ofKey, sql`${ofCode} ${ofKey}`]
      : [ofSubject, ofSubject, sql`${ofCode} ${ofKey}`];
  const all = () => rows(isFolded ? sql`${ofAll} and part_of is null` : ofAll, others);
  const own = (shown: readonly string[]) => {
    const whole = isFolded ? sql`and part_of is distinct from 'tenant'` : sql``;
    const each = rows(sql`and tenant_id = tenant ${ofOwn} ${whole}`, others);
    return sql`
      select own.* from unnest(${shown}::text[]) as shown (tenant) cross join lateral (${each}) as own`;
  };
  return hitsIn([tenants === '*' ? all() : own(tenants)], sql`at_ms desc, ordinal desc`, limit, maxScanned);
}

function isOneOf(column: Fragment, wanted: string | readonly string[]) {
  return typeof wanted === 'string' ? sql`${column} = ${wanted}` : sql`${column} = any(${wanted}::text[])`;
}

/** As literals, which PostgreSQL can match with the conditions of partial indexes. */
function ofKinds(kinds: readonly EntryKind[]) {
  const words = kinds.map((kind) => `'${kind}'`);
  return sql.unsafe(words.length === 1 ? `kind = ${words.join()}` : `kind in (${words.join()})`);
}

const columns = sql`
  ordinal, id, kind, at_ms, node, request_id, tenant_id, key_id, subject, machine, target, actor, batch_id, part_of,
  code, detail`;

function toEntry<K extends EntryKind>(row: Row): Entry<K> {
  const { tenantId, keyId, subject, machine, target, actor, batchId, partOf, ...entry } = row;
  const about = Object.entries({ tenantId, keyId, subject, machine, target, actor, batchId, partOf });
  const of: About = Object.fromEntries(about.filter(([, value]) => value !== null));
  return { ...entry, of } as unknown as Entry<K>;
}
