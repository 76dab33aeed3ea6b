import { type AnySql, type Database, type TransactionSql, LOCK_CLASSES } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { grouped } from '../../kernel/async.ts';
import type { KeyName, KeySlotLimits, KeySlots } from './contract.ts';

interface Confirmation extends KeyName {
  readonly sessionId: string;
  readonly limits: KeySlotLimits;
}

interface Take extends Confirmation {
  readonly leaseUntilMs: number;
  readonly atMs: number;
}

/** The open sessions of widget keys in PostgreSQL, beside the history; requests that arrive together are answered together. */
export function createPostgresKeySlots(database: Database): KeySlots {
  const take = grouped((takes: readonly Take[]) => database.transaction((sql) => takeAll(sql, takes)));
  const confirm = grouped((asked: readonly Confirmation[]) => database.transaction((sql) => confirmAll(sql, asked)));
  return {
    take: ({ tenantId, keyId }, sessionId, limits, leaseUntilMs, atMs) =>
      take({ tenantId, keyId, sessionId, limits, leaseUntilMs, atMs }),

    confirm: ({ tenantId, keyId }, sessionId, limits) => confirm({ tenantId, keyId, sessionId, limits }),

    free: (sessionId) => statementsOf(database).write`delete from key_slot where session_id = ${sessionId}`,
  };
}

async function takeAll(sql: TransactionSql, takes: readonly Take[]): Promise<(keyof KeySlotLimits | undefined)[]> {
  await lock(sql, takes);
  const held = new Map<string, number>();
  for (const { tenantId, keyId, count } of await countHeld(sql, takes)) held.set(totalName(tenantId, keyId), count);
  const full = takes.map((take) => {
    const counted = countedFor(take);
    const reached = counted.find(({ name, limit }) => (held.get(name) ?? 0) >= limit);
    if (reached === undefined) for (const { name } of counted) held.set(name, (held.get(name) ?? 0) + 1);
    return reached?.whose;
  });
  const noted = takes.filter((_, index) => full[index] === undefined);
  if (noted.length > 0)
    await sql`
      insert into key_slot (session_id, tenant_id, key_id, until_ms)
      select "sessionId", "tenantId", "keyId", "leaseUntilMs"
      from json_to_recordset(${JSON.stringify(noted)}::text::json)
        as given ("sessionId" text, "tenantId" text, "keyId" text, "leaseUntilMs" bigint)`;
  return full;
}

interface CountedFor {
  readonly whose: keyof KeySlotLimits;
  readonly name: string;
  /** Null for all keys of the tenant. */
  readonly keyId: string | null;
  readonly limit: number;
}

/** What a session is counted for: each of key and tenant that has a limit. */
function countedFor({ tenantId, keyId, limits }: Confirmation): CountedFor[] {
  const both = [
    { whose: 'key', keyId, limit: limits.key },
    { whose: 'tenant', keyId: null, limit: limits.tenant },
  ] as const;
  return both.flatMap(({ limit, ...one }) =>
    limit === undefined ? [] : [{ ...one, limit, name: totalName(tenantId, one.keyId) }],
  );
}

/** The note is there unless a take has dropped it. No take of the key runs meanwhile, so each take has either counted the session or not. */
async function confirmAll(sql: TransactionSql, asked: readonly Confirmation[]): Promise<boolean[]> {
  await lock(sql, asked);
  const rows = await sql<{ sessionId: string }[]>`
    delete from key_slot where session_id = any(${asked.map(({ sessionId }) => sessionId)}::text[])
    returning session_id`;
  const confirmed = new Set(rows.map(({ sessionId }) => sessionId));
  return asked.map(({ sessionId }) => confirmed.has(sessionId));
}

/** Transactions that count the same key or tenant take turns until they end; locks are taken in a fixed order, to avoid deadlocks. */
async function lock(sql: AnySql, asked: readonly Confirmation[]): Promise<void> {
  const names = asked.flatMap(countedFor).map(({ name }) => name);
  await sql`
    select pg_advisory_xact_lock(${LOCK_CLASSES.keySlots}::integer, name) from
      (select distinct hashtext(name) as name from unnest(${names}::text[]) as asked (name) order by 1) as ordered`;
}

/**
 * Drops the notes whose leases have lapsed and counts the rest, each session once: by its row in the history, otherwise by its note. One statement
 * does both: a session that enters the history meanwhile is seen in neither place, and then cannot be confirmed.
 */
function countHeld(sql: AnySql, takes: readonly Take[]) {
  const asked = takes.flatMap((take) => countedFor(take).map((one) => ({ ...one, tenantId: take.tenantId })));
  const all = [...new Map(asked.map((one) => [one.name, one])).values()];
  const atMs = Math.max(...takes.map((take) => take.atMs));
  return sql<{ readonly tenantId: string; readonly keyId: string | null; readonly count: number }[]>`
    with asked as (
      select * from unnest(${all.map(({ tenantId }) => tenantId)}::text[], ${all.map(({ keyId }) => keyId)}::text[])
        as asked (tenant_id, key_id)
    ), lapsed as (
      delete from key_slot using asked
      where key_slot.tenant_id = asked.tenant_id and key_slot.key_id = coalesce(asked.key_id, key_slot.key_id)
        and until_ms <= ${atMs}
    )
    select tenant_id, key_id, ((
      select count(*) from voice_session as session
      where session.tenant_id = asked.tenant_id and session.key_id = asked.key_id
        and ended_at_ms is null and state = 'engaged'
    ) + (
      select count(*) from voice_session as session
      where asked.key_id is null and session.tenant_id = asked.tenant_id and session.key_id is not null
        and ended_at_ms is null and state = 'engaged'
    ) + (
      select count(*) from key_slot as slot
      where slot.tenant_id = asked.tenant_id and slot.key_id = coalesce(asked.key_id, slot.key_id) and until_ms > ${atMs}
        and not exists (select from voice_session where voice_session.id = slot.session_id)
    ))::integer as count from asked`;
}

/** Key ids are never empty, so a tenant's name differs from those of its keys. */
function totalName(tenantId: string, keyId: string | null): string {
  return `${tenantId}:${keyId ?? ''}`;
}
