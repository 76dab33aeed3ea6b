import postgres from 'postgres';
import { CHUNK_ROWS, PATIENT, type AnySql, type Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { chunksOf } from '../../kernel/collections.ts';
import { writeEvents } from '../webhooks/outbox.ts';
import { mergeBudgets } from '../budgets/postgres.ts';
import { mergeWebhooks } from '../webhooks/postgres.ts';
import {
  KeyTaken,
  TooManyKeys,
  type KeyChange,
  type Stop,
  type Tenant,
  type Tenants,
  type WidgetKey,
} from './contract.ts';
import { INSTALLATION } from '../scanned-page.ts';

const UNIQUE_VIOLATION = '23505';
/** Fields that a tenant does not set are null. */
type TenantRow = Omit<Tenant, 'keys' | 'adminsMay' | 'totals' | 'maxKeys'> & {
  readonly [K in 'adminsMay' | 'totals' | 'maxKeys']: NonNullable<Tenant[K]> | null;
};

/** Fields that a key does not set are null. */
type KeyRow = Omit<WidgetKey, 'bots'> & { readonly bots: NonNullable<WidgetKey['bots']> | null };

function toKey({ bots, ...key }: KeyRow): WidgetKey {
  return bots === null ? key : { ...key, bots };
}

/** Tenants and widget keys in PostgreSQL. */
export function createPostgresTenants(database: Database): Tenants {
  const { query, first, some } = statementsOf(database);

  /** Reads what the key was before under a lock, so that of two simultaneous changes the second sees the first. */
  async function change(
    tenantId: string,
    keyId: string,
    set: Fragment,
    told?: Fragment,
  ): Promise<WidgetKey | undefined> {
    const key = await first<KeyRow>`
      with was as materialized (
        select paused_at_ms, revoked_at_ms from widget_key where tenant_id = ${tenantId} and id = ${keyId} for update
      ), saved as (
        update widget_key as kept set ${set} from was where kept.tenant_id = ${tenantId} and kept.id = ${keyId}
        returning kept.*, was.paused_at_ms as was_paused_at_ms, was.revoked_at_ms as was_revoked_at_ms
      )${told === undefined ? sql`` : sql`, ${told}`}
      select ${columns} from saved`;
    return key && toKey(key);
  }

  /** A page of all keys by tenant and id; changes made meanwhile are seen by the next read of all. */
  const keysAfter = async (last: WidgetKey | undefined): Promise<readonly WidgetKey[]> => {
    const rows = await query<KeyRow>`
      select ${columns} from widget_key
      where (tenant_id, id) > (${last?.tenantId ?? ''}, ${last?.id ?? ''}) order by tenant_id, id limit ${CHUNK_ROWS}`;
    return rows.map(toKey);
  };

  return {
    async all() {
      const [rows, first] = await Promise.all([
        query<TenantRow>`
          select id, name, agents, admins, admins_may, ceilings as totals, max_keys
          from tenant order by id`,
        keysAfter(undefined),
      ]);
      const keys = new Map<string, WidgetKey[]>(rows.map(({ id }) => [id, []]));
      let page = first;
      const take = (): void => page.forEach((key) => keys.get(key.tenantId)?.push(key));
      for (take(); page.length === CHUNK_ROWS; take()) page = await keysAfter(page.at(-1));
      return rows.map(({ adminsMay, totals, maxKeys, ...tenant }) => ({
        ...tenant,
        ...(adminsMay !== null && { adminsMay }),
        ...(totals !== null && { totals }),
        ...(maxKeys !== null && { maxKeys }),
        keys: keys.get(tenant.id) ?? [],
      }));
    },

    async merge(tenants, { isPart = false, budgets } = {}) {
      const keys = tenants.flatMap((tenant) => tenant.keys.map((key) => ({ ...key, tenantId: tenant.id })));
      refuseDuplicates(keys);
      await naming(keys, () =>
        database.transaction(async (sql) => {
          // Writers of keys take turns, and readers go on. ON CONFLICT watches only one of the two unique indexes: through the other, a key that is
          // issued at this moment would make the merge fail.
          await sql`lock table widget_key in share row exclusive mode`;
          for (const some of chunksOf(tenants, CHUNK_ROWS)) await mergeTenants(sql, some);
          for (const some of chunksOf(keys, CHUNK_ROWS)) await mergeKeys(sql, some);
          await mergeWebhooks(sql, tenants, isPart);
          if (budgets !== undefined) await mergeBudgets(sql, budgets);
        }, PATIENT),
      );
    },

    async issue(keys, said) {
      return naming(keys, () =>
        database.transaction(async (sql) => {
          await refuseTooMany(sql, keys);
          const made = await sql`${insertKeys(keys, said)}`;
          return made.length === keys.length;
        }),
      );
    },

    revoke: (tenantId, keyId, { atMs, ...by }) =>
      change(
        tenantId,
        keyId,
        sql`revoked_at_ms = coalesce(kept.revoked_at_ms, ${atMs})`,
        toldKeys('key.revoked', { ...by, atMs: sql`revoked_at_ms` }, sql`was_revoked_at_ms is null`),
      ),

    pause: (tenantId, keyId, { atMs, ...by }) =>
      change(
        tenantId,
        keyId,
        sql`
          paused_at_ms = case when kept.revoked_at_ms is null then coalesce(kept.paused_at_ms, ${atMs}::bigint) else kept.paused_at_ms end`,
        toldKeys(
          'key.paused',
          { ...by, atMs: sql`paused_at_ms` },
          sql`was_paused_at_ms is null and paused_at_ms is not null`,
        ),
      ),

    resume: (tenantId, keyId) => change(tenantId, keyId, sql`paused_at_ms = null`),

    stops: () => query<Stop>`select ${stopOf} from emergency_stop order by tenant_id`,

    async addStop({ tenantId, atMs, actor, role, reason }) {
      const kept = await first<Stop>`
        insert into emergency_stop as kept (tenant_id, stopped_at_ms, actor, role, reason)
        values (${tenantId ?? INSTALLATION}, ${atMs}, ${actor}, ${role}, ${reason})
        on conflict (tenant_id) do update set
          stopped_at_ms = case when ${isRaised} then excluded.stopped_at_ms else kept.stopped_at_ms end,
          actor = case when ${isRaised} then excluded.actor else kept.actor end,
          role = case when ${isRaised} then excluded.role else kept.role end,
          reason = case when ${isRaised} then excluded.reason else kept.reason end
        returning ${stopOf}`;
      return kept as Stop;
    },

    liftStop: (tenantId) => some`delete from emergency_stop where tenant_id = ${tenantId ?? INSTALLATION}`,
  };
}

async function mergeTenants(sql: AnySql, tenants: readonly Tenant[]): Promise<void> {
  const bare = tenants.map((tenant) => ({ ...tenant, keys: undefined, webhooks: undefined }));
  await sql`
    insert into tenant as kept (id, name, agents, admins, admins_may, ceilings, max_keys)
    select id, name, agents, admins, "adminsMay", totals, "maxKeys"
    from json_to_recordset(${JSON.stringify(bare)}::text::json) as given (id text, name text, agents jsonb, admins jsonb,
      "adminsMay" jsonb, totals jsonb, "maxKeys" integer)
    order by id
    on conflict (id) do update set name = excluded.name, agents = excluded.agents, admins = excluded.admins,
        admins_may = excluded.admins_may, ceilings = excluded.ceilings, max_keys = excluded.max_keys
      where (kept.name, kept.agents, kept.admins, kept.admins_may, kept.ceilings, kept.max_keys)
        is distinct from (excluded.name, excluded.agents, excluded.admins, excluded.admins_may, excluded.ceilings,
          excluded.max_keys)`;
}

const keyColumns = sql`
  key, id, tenant_id, origin, label, agents, allow_overrides, call_mode, data_channel, limits, totals, bots, revoked_at_ms`;

const keyFields = sql`
  key, given.id, "tenantId", origin, label, given.agents, "allowOverrides", call, "dataChannel", limits, totals, bots, "revokedAtMs"`;

const keyTypes = sql`
  key text, id text, "tenantId" text, origin text, label text, agents jsonb, "allowOverrides" boolean, call text, "dataChannel" text,
  limits jsonb, totals jsonb, bots jsonb, "revokedAtMs" bigint`;

/** Writes only what differs: a start with an unchanged file writes no row. */
async function mergeKeys(sql: AnySql, keys: readonly WidgetKey[]): Promise<void> {
  const [taken] = await sql<{ key: string }[]>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(keys)}::text::json) as given (${keyTypes})
    ), was as materialized (
      select kept.key from widget_key as kept join given on given.key = kept.key
      where kept.revoked_at_ms is null and given."revokedAtMs" is not null
    ), merged as (
      insert into widget_key as kept (${keyColumns}) select ${keyFields} from given
      on conflict (key) do update set
        origin = excluded.origin, label = excluded.label, agents = excluded.agents, allow_overrides = excluded.allow_overrides,
        call_mode = excluded.call_mode, data_channel = excluded.data_channel, limits = excluded.limits, totals = excluded.totals, bots = excluded.bots,
        revoked_at_ms = coalesce(kept.revoked_at_ms, excluded.revoked_at_ms)
        where kept.tenant_id = excluded.tenant_id and kept.id = excluded.id
          and (kept.origin, kept.label, kept.agents, kept.allow_overrides, kept.call_mode, kept.data_channel, kept.limits, kept.totals, kept.bots, kept.revoked_at_ms)
            is distinct from (excluded.origin, excluded.label, excluded.agents, excluded.allow_overrides, excluded.call_mode,
              excluded.data_channel, excluded.limits, excluded.totals, excluded.bots, coalesce(kept.revoked_at_ms, excluded.revoked_at_ms))
      returning key, id, tenant_id, origin, label, revoked_at_ms
    ), saved as (
      select merged.* from merged join was on was.key = merged.key
    ), ${toldKeys('key.revoked', { by: 'file', reason: null, atMs: sql`revoked_at_ms` }, sql`true`)}
    select given.key from given join widget_key as kept on kept.key = given.key
    where (kept.tenant_id, kept.id) <> (given."tenantId", given.id) limit 1`;
  if (taken !== undefined)
    throw new KeyTaken(`widget key ${taken.key} is in use by another tenant or under another id`);
}

/** Whether a stop replaces one that an admin of the tenant could lift. */
const isRaised = sql`kept.role = 'tenant_admin' and excluded.role <> 'tenant_admin'`;

const stopOf = sql`nullif(tenant_id, ${INSTALLATION}) as "tenantId", stopped_at_ms as "atMs", actor, role, reason`;

const columns = sql`
  id, tenant_id, key, origin, label, agents, allow_overrides, call_mode as call,
  data_channel, limits, totals, bots, paused_at_ms, revoked_at_ms`;

/**
 * Issues of keys for one tenant take turns, so that two at once cannot together exceed the limit. The table is locked before the tenant, as a merge
 * does, to avoid deadlocks.
 */
async function refuseTooMany(sql: AnySql, keys: readonly WidgetKey[]): Promise<void> {
  const tenantId = keys[0]?.tenantId ?? '';
  await sql`lock table widget_key in row exclusive mode`;
  const [tenant] = await sql<{ readonly maxKeys: number | null }[]>`
    select max_keys from tenant where id = ${tenantId} for update`;
  if (tenant === undefined || tenant.maxKeys === null) return;
  const [{ count } = { count: 0 }] = await sql<{ readonly count: number }[]>`
    select count(*)::integer as count from widget_key where tenant_id = ${tenantId} and revoked_at_ms is null`;
  if (count + keys.length > tenant.maxKeys)
    throw new TooManyKeys(`the tenant ${tenantId} has ${count} keys, and may have ${tenant.maxKeys}`);
}

function insertKeys(keys: readonly WidgetKey[], { atMs, ...by }: KeyChange): Fragment {
  return sql`
    with saved as (
      insert into widget_key (${keyColumns})
      select ${keyFields} from json_to_recordset(${JSON.stringify(keys)}::text::json) as given (${keyTypes})
      join tenant on tenant.id = given."tenantId"
      returning id, tenant_id, origin, label
    ), ${toldKeys('key.issued', { ...by, atMs: sql`${atMs}::bigint` }, sql`true`)}
    select id from saved`;
}

/**
 * Part of a statement that changes widget keys: `saved` has the columns of the changed keys. The key itself is not told.
 * @param isNews whether the fact is true of a row of `saved` and was not before
 */
function toldKeys(
  type: 'key.issued' | 'key.revoked' | 'key.paused',
  { atMs, by, reason }: Omit<KeyChange, 'atMs'> & { readonly atMs: Fragment },
  isNews: Fragment,
): Fragment {
  return writeEvents({
    facts: sql`
      select ${type}::text as type, tenant_id, ${atMs} as at_ms, null::text as ref, id, origin, label from saved where ${isNews}`,
    data: sql`
      json_build_object('tenantId', fact.tenant_id, 'keyId', fact.id, 'origin', fact.origin, 'label', fact.label, 'by', ${by}::text,
        'reason', ${reason}::text)`,
  });
}

function refuseDuplicates(keys: readonly WidgetKey[]): void {
  const seen = new Set<string>();
  for (const { key } of keys) {
    if (seen.has(key)) throw new KeyTaken(`widget key ${key} is given twice`);
    seen.add(key);
  }
}

/** Runs work that writes keys; a violation of a unique index becomes `KeyTaken`. */
async function naming<T>(keys: readonly WidgetKey[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.code !== UNIQUE_VIOLATION) throw error;
    const names = keys.map(({ tenantId, id }) => `${tenantId}/${id}`).join(', ');
    throw new KeyTaken(`a widget key or its id is in use: ${error.detail ?? names}`, { cause: error });
  }
}
