import type { AuthRecord, AuthState } from '../../../machines/auth-session/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { writeGivenEvents } from '../webhooks/outbox.ts';
import { hitsIn, MAX_SCANNED, pageOfScans, type Scanned } from '../scanned-page.ts';
import type { Position } from '../voice-history/contract.ts';
import type { Logins } from './contract.ts';

/** Console logins in PostgreSQL. */
export function createPostgresLogins(database: Database): Logins {
  const { query, first, write, execute } = statementsOf(database);
  return {
    load: (id) => first<AuthRecord>`select ${columns} from login where id = ${id}`,

    async save({ id, renewedAtMs, expiresAtMs, destroyedAtMs, destroyReason, version }, expectedVersion) {
      // The other fields never change: whose login it is, and when it began.
      const count = await execute`
        update login set renewed_at_ms = ${renewedAtMs}, expires_at_ms = ${expiresAtMs},
          destroyed_at_ms = ${destroyedAtMs}, destroy_reason = ${destroyReason}, version = ${version}
        where id = ${id} and version = ${expectedVersion}`;
      return count === 1;
    },

    ofEmail: (email, limit, activeAtMs) => query<AuthRecord>`
      select ${columns} from login
      where email = ${email} and ${activeAtMs === undefined ? sql`true` : isActive(activeAtMs)}
      order by created_at_ms desc, id desc limit ${limit}`,

    async list(state, atMs, after, limit) {
      const found = await query<AuthRecord & Scanned>`${scan(state, atMs, after, limit + 1)}`;
      const { hits: logins, last, isPartial } = pageOfScans(found, limit, MAX_SCANNED);
      return { logins, next: last && { atMs: last.createdAtMs, id: last.id }, isPartial };
    },

    insert: (record) => write`${insertedLogin(record)}`,
  };
}

function scan(state: AuthState | undefined, atMs: number, after: Position | undefined, limit: number): Fragment {
  const active = isActive(atMs);
  const scanned = sql`
    select ${columns}, row_number() over (order by created_at_ms desc, id desc) as place,
      ${state === undefined ? sql`true` : state === 'active' ? active : sql`not ${active}`} as "isHit"
    from login
    where ${after === undefined ? sql`true` : sql`(created_at_ms, id) < (${after.atMs}, ${after.id})`}
    order by created_at_ms desc, id desc limit ${MAX_SCANNED}`;
  return hitsIn([scanned], sql`created_at_ms desc, id desc`, limit, MAX_SCANNED);
}

function isActive(atMs: number) {
  return sql`(destroyed_at_ms is null and expires_at_ms > ${atMs})`;
}

/** A record may have more fields, of a later build: they are not written. */
const FIELDS = [
  'id',
  'email',
  'createdAtMs',
  'renewedAtMs',
  'expiresAtMs',
  'destroyedAtMs',
  'destroyReason',
  'version',
] as const satisfies readonly (keyof AuthRecord)[];

const columns = sql(FIELDS);

/**
 * The statement that inserts a login, alone or in a transaction with the challenge that opens it; with a subject, webhooks are told of it.
 * @param subject the subject of its address
 */
export function insertedLogin(record: AuthRecord, subject?: string): Fragment {
  const data = { tenantId: null, loginId: record.id, subject };
  const fact = { type: 'login.succeeded', tenantId: null, atMs: record.createdAtMs, data } as const;
  return sql`
    with saved as (
      insert into login ${sql(record, FIELDS)} returning id
    ), ${writeGivenEvents(subject === undefined ? [] : [fact])}
    select id from saved`;
}
