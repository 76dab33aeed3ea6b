import type { AnySql, Database, TransactionSql } from '../../database/database.ts';
import { grouped } from '../grouped.ts';
import type { KeyName, KeySlots } from './contract.ts';

const MAX_ASKS = 500;

/** The advisory locks of this file: any fixed number that no other user of the same database takes. */
const LOCK_CLASS = 727_002;

interface Confirmation extends KeyName {
  readonly sessionId: string;
}

interface Take extends Confirmation {
  readonly limit: number;
  readonly leaseUntilMs: number;
  readonly atMs: number;
}

/** The open sessions of widget keys in PostgreSQL, beside the history: what is asked together is answered together. */
export function createPostgresKeySlots(database: Database): KeySlots {
  const take = grouped((takes: readonly Take[]) => database.transaction((sql) => takeAll(sql, takes)), MAX_ASKS);
  const confirm = grouped(
    (asked: readonly Confirmation[]) => database.transaction((sql) => confirmAll(sql, asked)),
    MAX_ASKS,
  );
  return {
    take: ({ tenantId, keyId }, sessionId, limit, leaseUntilMs, atMs) =>
      take({ tenantId, keyId, sessionId, limit, leaseUntilMs, atMs }),

    confirm: ({ tenantId, keyId }, sessionId) => confirm({ tenantId, keyId, sessionId }),

    async free(sessionId) {
      await database.run((sql) => sql`delete from key_slot where session_id = ${sessionId}`);
    },
  };
}

async function takeAll(sql: TransactionSql, takes: readonly Take[]): Promise<boolean[]> {
  await lock(sql, takes);
  const held = new Map<string, number>();
  for (const { tenantId, keyId, count } of await countHeld(sql, takes)) held.set(nameOf({ tenantId, keyId }), count);
  const admitted = takes.map((take) => {
    const count = held.get(nameOf(take)) ?? 0;
    if (count >= take.limit) return false;
    held.set(nameOf(take), count + 1);
    return true;
  });
  const noted = takes.filter((_, index) => admitted[index]);
  if (noted.length > 0)
    await sql`
      insert into key_slot (session_id, tenant_id, key_id, until_ms)
      select "sessionId", "tenantId", "keyId", "leaseUntilMs"
      from json_to_recordset(${JSON.stringify(noted)}::text::json)
        as given ("sessionId" text, "tenantId" text, "keyId" text, "leaseUntilMs" bigint)`;
  return admitted;
}

/** The note is there unless a take has dropped it; no take of the key is under way meanwhile, so it has either counted the session or not. */
async function confirmAll(sql: TransactionSql, asked: readonly Confirmation[]): Promise<boolean[]> {
  await lock(sql, asked);
  const rows = await sql<{ sessionId: string }[]>`
    delete from key_slot where session_id = any(${asked.map(({ sessionId }) => sessionId)}::text[])
    returning session_id as "sessionId"`;
  const confirmed = new Set(rows.map(({ sessionId }) => sessionId));
  return asked.map(({ sessionId }) => confirmed.has(sessionId));
}

/** Those who count the same key take turns until their transactions end; keys are locked in one order, so nobody waits in a circle. */
async function lock(sql: AnySql, keys: readonly KeyName[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${LOCK_CLASS}::integer, name) from
      (select distinct hashtext(name) as name from unnest(${keys.map(nameOf)}::text[]) as asked (name) order by 1) as ordered`;
}

/**
 * Drops the notes whose leases have lapsed and counts the rest, each session once: by its row in the history, else by its note. Both in one
 * statement, so that a session that comes into the history meanwhile is seen in neither, and then cannot be confirmed.
 */
function countHeld(sql: AnySql, takes: readonly Take[]) {
  const keys = [...new Map(takes.map((take) => [nameOf(take), take])).values()];
  const atMs = Math.max(...takes.map((take) => take.atMs));
  return sql<(KeyName & { readonly count: number })[]>`
    with asked as (
      select * from unnest(${keys.map(({ tenantId }) => tenantId)}::text[], ${keys.map(({ keyId }) => keyId)}::text[])
        as asked (tenant_id, key_id)
    ), lapsed as (
      delete from key_slot using asked
      where key_slot.tenant_id = asked.tenant_id and key_slot.key_id = asked.key_id and until_ms <= ${atMs}
    )
    select tenant_id as "tenantId", key_id as "keyId", ((
      select count(*) from voice_session as session
      where session.tenant_id = asked.tenant_id and session.key_id = asked.key_id
        and ended_at_ms is null and state = 'engaged'
    ) + (
      select count(*) from key_slot as slot
      where slot.tenant_id = asked.tenant_id and slot.key_id = asked.key_id and until_ms > ${atMs}
        and not exists (select from voice_session where voice_session.id = slot.session_id)
    ))::integer as count from asked`;
}

function nameOf({ tenantId, keyId }: KeyName): string {
  return `${tenantId}:${keyId}`;
}
