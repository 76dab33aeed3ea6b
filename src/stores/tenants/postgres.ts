import postgres from 'postgres';
import type { AnySql, Database } from '../../database/database.ts';
import { KeyTaken, TooManyKeys, type Tenant, type Tenants, type WidgetKey } from './contract.ts';

const UNIQUE_VIOLATION = '23505';

/** What a tenant does not say is null. */
type TenantRow = Omit<Tenant, 'adminsMay' | 'totals' | 'maxKeys'> & {
  readonly [K in 'adminsMay' | 'totals' | 'maxKeys']: NonNullable<Tenant[K]> | null;
};

/** Tenants and widget keys in PostgreSQL. */
export function createPostgresTenants(database: Database): Tenants {
  async function change(
    tenantId: string,
    keyId: string,
    set: (sql: AnySql) => postgres.Fragment,
  ): Promise<WidgetKey | undefined> {
    const [key] = await database.run(
      (sql) => sql<WidgetKey[]>`
        update widget_key set ${set(sql)} where tenant_id = ${tenantId} and id = ${keyId}
        returning id, tenant_id as "tenantId", key, origin, label, agents, allow_overrides as "allowOverrides",
          call_mode as call, data_channel as "dataChannel", limits, totals, paused_at_ms as "pausedAtMs", revoked_at_ms as "revokedAtMs"`,
    );
    return key;
  }

  return {
    async all() {
      const rows = await database.run(
        (sql) => sql<TenantRow[]>`
          select tenant.id, tenant.name, tenant.agents, tenant.admins, tenant.admins_may as "adminsMay", tenant.ceilings as totals,
            tenant.max_keys as "maxKeys", coalesce(json_agg(json_build_object(
              'id', k.id, 'tenantId', k.tenant_id, 'key', k.key, 'origin', k.origin, 'label', k.label, 'agents', k.agents,
              'allowOverrides', k.allow_overrides, 'call', k.call_mode, 'dataChannel', k.data_channel,
              'limits', k.limits, 'totals', k.totals,
              'pausedAtMs', k.paused_at_ms, 'revokedAtMs', k.revoked_at_ms
            ) order by k.id) filter (where k.key is not null), '[]') as keys
          from tenant left join widget_key as k on k.tenant_id = tenant.id
          group by tenant.id order by tenant.id`,
      );
      return rows.map(({ adminsMay, totals, maxKeys, ...tenant }) => ({
        ...tenant,
        ...(adminsMay !== null && { adminsMay }),
        ...(totals !== null && { totals }),
        ...(maxKeys !== null && { maxKeys }),
      }));
    },

    async merge(tenants) {
      const keys = tenants.flatMap((tenant) => tenant.keys.map((key) => ({ ...key, tenantId: tenant.id })));
      refuseDuplicates(keys);
      await naming(keys, () =>
        database.transaction(async (sql) => {
          // Writers of keys take turns and readers go on: ON CONFLICT watches one of the two unique indexes only, and in the other
          // one a key that is issued at this moment would make the merge fail.
          await sql`lock table widget_key in share row exclusive mode`;
          await mergeTenants(sql, tenants);
          await mergeKeys(sql, keys);
        }),
      );
    },

    async issue(keys) {
      return naming(keys, () =>
        database.transaction(async (sql) => {
          await refuseTooMany(sql, keys);
          const { count } = await insertKeys(sql, keys);
          return count === keys.length;
        }),
      );
    },

    revoke: (tenantId, keyId, atMs) =>
      change(tenantId, keyId, (sql) => sql`revoked_at_ms = coalesce(revoked_at_ms, ${atMs})`),

    pause: (tenantId, keyId, atMs) =>
      change(
        tenantId,
        keyId,
        (sql) => sql`
          paused_at_ms = case when revoked_at_ms is null then coalesce(paused_at_ms, ${atMs}::bigint) else paused_at_ms end`,
      ),

    resume: (tenantId, keyId) => change(tenantId, keyId, (sql) => sql`paused_at_ms = null`),
  };
}

async function mergeTenants(sql: AnySql, tenants: readonly Tenant[]): Promise<void> {
  await sql`
    insert into tenant as kept (id, name, agents, admins, admins_may, ceilings, max_keys)
    select id, name, agents, admins, "adminsMay", totals, "maxKeys"
    from json_to_recordset(${JSON.stringify(tenants)}::text::json) as given (id text, name text, agents jsonb, admins jsonb,
      "adminsMay" jsonb, totals jsonb, "maxKeys" integer)
    order by id
    on conflict (id) do update set name = excluded.name, agents = excluded.agents, admins = excluded.admins,
        admins_may = excluded.admins_may, ceilings = excluded.ceilings, max_keys = excluded.max_keys
      where (kept.name, kept.agents, kept.admins, kept.admins_may, kept.ceilings, kept.max_keys)
        is distinct from (excluded.name, excluded.agents, excluded.admins, excluded.admins_may, excluded.ceilings,
          excluded.max_keys)`;
}

async function mergeKeys(sql: AnySql, keys: readonly WidgetKey[]): Promise<void> {
  const merged = await sql<{ key: string }[]>`
    insert into widget_key as kept
      (key, id, tenant_id, origin, label, agents, allow_overrides, call_mode, data_channel, limits, totals, revoked_at_ms)
    select key, id, "tenantId", origin, label, agents, "allowOverrides", call, "dataChannel", limits, totals, "revokedAtMs"
    from json_to_recordset(${JSON.stringify(keys)}::text::json) as given (key text, id text, "tenantId" text, origin text,
      label text, agents jsonb, "allowOverrides" boolean, call text, "dataChannel" text, limits jsonb, totals jsonb, "revokedAtMs" bigint)
    on conflict (key) do update set
      origin = excluded.origin, label = excluded.label, agents = excluded.agents, allow_overrides = excluded.allow_overrides,
      call_mode = excluded.call_mode, data_channel = excluded.data_channel, limits = excluded.limits, totals = excluded.totals, revoked_at_ms = coalesce(kept.revoked_at_ms, excluded.revoked_at_ms)
      where kept.tenant_id = excluded.tenant_id and kept.id = excluded.id
    returning key`;
  if (merged.length === keys.length) return;
  const mine = new Set(merged.map(({ key }) => key));
  const taken = keys.find(({ key }) => !mine.has(key));
  throw new KeyTaken(`widget key ${taken?.key} is in use by another tenant or under another id`);
}

/**
 * Those who issue keys of one tenant take turns, so that two together do not pass what each alone would not. The table is locked before
 * the tenant, as a merge does, so that nobody waits in a circle.
 */
async function refuseTooMany(sql: AnySql, keys: readonly WidgetKey[]): Promise<void> {
  const tenantId = keys[0]?.tenantId ?? '';
  await sql`lock table widget_key in row exclusive mode`;
  const [tenant] = await sql<{ readonly maxKeys: number | null }[]>`
    select max_keys as "maxKeys" from tenant where id = ${tenantId} for update`;
  if (tenant === undefined || tenant.maxKeys === null) return;
  const [{ count = 0 } = {}] = await sql<{ readonly count: number }[]>`
    select count(*)::integer as count from widget_key where tenant_id = ${tenantId} and revoked_at_ms is null`;
  if (count + keys.length > tenant.maxKeys)
    throw new TooManyKeys(`the tenant ${tenantId} has ${count} keys, and may have ${tenant.maxKeys}`);
}

function insertKeys(sql: AnySql, keys: readonly WidgetKey[]) {
  return sql`
    insert into widget_key
      (key, id, tenant_id, origin, label, agents, allow_overrides, call_mode, data_channel, limits, totals, revoked_at_ms)
    select key, given.id, tenant.id, origin, label, given.agents, "allowOverrides", call, "dataChannel", limits, totals, "revokedAtMs"
    from json_to_recordset(${JSON.stringify(keys)}::text::json) as given (key text, id text, "tenantId" text, origin text,
      label text, agents jsonb, "allowOverrides" boolean, call text, "dataChannel" text, limits jsonb, totals jsonb, "revokedAtMs" bigint)
    join tenant on tenant.id = given."tenantId"`;
}

function refuseDuplicates(keys: readonly WidgetKey[]): void {
  const seen = new Set<string>();
  for (const { key } of keys) {
    if (seen.has(key)) throw new KeyTaken(`widget key ${key} is given twice`);
    seen.add(key);
  }
}

/** Runs work that writes keys; a unique index that refuses becomes `KeyTaken`. */
async function naming<T>(keys: readonly WidgetKey[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.code !== UNIQUE_VIOLATION) throw error;
    const names = keys.map(({ tenantId, id }) => `${tenantId}/${id}`).join(', ');
    throw new KeyTaken(`a widget key or its id is in use: ${error.detail ?? names}`, { cause: error });
  }
}
