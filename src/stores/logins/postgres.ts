import type { AuthRecord, AuthState } from '../../../machines/auth-session/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { writeGivenEvents } from '../webhooks/outbox.ts';
import { hitsIn, MAX_SCANNED, pageOfScans, type Scanned } from '../scanned-page.ts';
import type { Position } from '../voice-history/contract.ts';
import type { Logins, Askers, Challenges, LoginAddress, LoginAddresses } from './contract.ts';
import type { ChallengeRecord, ChallengeState } from '../../../machines/otp-challenge/types.ts';

/** Console logins in PostgreSQL. */
export function createPostgresLogins(database: Database): Logins {
  const { query, first, write, some } = statementsOf(database);
  return {
    load: (id) => first<AuthRecord>`select ${loginColumns} from login where id = ${id}`,

    save({ id, renewedAtMs, expiresAtMs, destroyedAtMs, destroyReason, version }, expectedVersion) {
      // The other fields never change: whose login it is, and when it began.
      return some`
        update login set renewed_at_ms = ${renewedAtMs}, expires_at_ms = ${expiresAtMs},
          destroyed_at_ms = ${destroyedAtMs}, destroy_reason = ${destroyReason}, version = ${version}
        where id = ${id} and version = ${expectedVersion}`;
    },

    ofEmail: (email, limit, activeAtMs) => query<AuthRecord>`
      select ${loginColumns} from login
      where email = ${email} and ${activeAtMs === undefined ? sql`true` : isActive(activeAtMs)}
      order by created_at_ms desc, id desc limit ${limit}`,

    async list(state, atMs, after, limit) {
      const found = await query<AuthRecord & Scanned>`${scanLogins(state, atMs, after, limit + 1)}`;
      const { hits: logins, last, isPartial } = pageOfScans(found, limit, MAX_SCANNED);
      return { logins, next: last && { atMs: last.createdAtMs, id: last.id }, isPartial };
    },

    insert: (record) => write`${insertedLogin(record)}`,
  };
}

function scanLogins(state: AuthState | undefined, atMs: number, after: Position | undefined, limit: number): Fragment {
  const active = isActive(atMs);
  const scanned = sql`
    select ${loginColumns}, row_number() over (order by created_at_ms desc, id desc) as place,
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
const LOGIN_FIELDS = [
  'id',
  'email',
  'createdAtMs',
  'renewedAtMs',
  'expiresAtMs',
  'destroyedAtMs',
  'destroyReason',
  'version',
] as const satisfies readonly (keyof AuthRecord)[];

const loginColumns = sql(LOGIN_FIELDS);

/**
 * The statement that inserts a login, alone or in a transaction with the challenge that opens it; with a subject, webhooks are told of it.
 * @param subject the subject of its address
 */
function insertedLogin(record: AuthRecord, subject?: string): Fragment {
  const data = { tenantId: null, loginId: record.id, subject };
  const fact = { type: 'login.succeeded', tenantId: null, atMs: record.createdAtMs, data } as const;
  return sql`
    with saved as (
      insert into login ${sql(record, LOGIN_FIELDS)} returning id
    ), ${writeGivenEvents(subject === undefined ? [] : [fact])}
    select id from saved`;
}

/** OTP challenges in PostgreSQL. */
export function createPostgresChallenges(database: Database): Challenges {
  const { query, first, write, some } = statementsOf(database);
  return {
    load: (id) => first<ChallengeRecord>`select ${challengeColumns} from otp_challenge where id = ${id}`,

    save(record, expectedVersion, lockedAtMs) {
      const { subject, attempts } = record;
      const data = { tenantId: null, subject, attempts };
      const locked =
        lockedAtMs === undefined ? [] : [{ type: 'login.locked', tenantId: null, atMs: lockedAtMs, data } as const];
      return some`
        with saved as (${saving(record, expectedVersion)} returning id), ${writeGivenEvents(locked)}
        select id from saved`;
    },

    redeem: (record, expectedVersion, login) =>
      database.transaction(async (sql) => {
        const { count } = await sql`${saving(record, expectedVersion)}`;
        if (count === 1) await sql`${insertedLogin(login, record.subject)}`;
        return count === 1;
      }),

    insert: (record) => write`insert into otp_challenge ${sql(record, CHALLENGE_FIELDS)}`,

    async list(state, atMs, before, limit) {
      const found = await query<ScannedChallenge>`${scanChallenges(state, atMs, before, limit + 1)}`;
      const { hits, last, isPartial } = pageOfScans(found, limit, MAX_SCANNED);
      return {
        challenges: hits.map(({ ordinal: _ordinal, ...record }): ChallengeRecord => record),
        next: last?.ordinal,
        searchedToMs: isPartial ? last?.issuedAtMs : undefined,
      };
    },

    newest: (subject, askers) => first<ChallengeRecord>`
      select ${challengeColumns} from otp_challenge where subject = ${subject} and ${isBy(askers)}
      order by ordinal desc limit 1`,
  };
}

function isBy(askers: Askers | undefined) {
  if (askers === undefined) return sql`true`;
  return 'only' in askers ? sql`asker = ${askers.only}` : sql`asker <> ${askers.but}`;
}

interface ScannedChallenge extends ChallengeRecord, Scanned {
  readonly ordinal: number;
}

function scanChallenges(
  state: ChallengeState | undefined,
  atMs: number,
  before: number | undefined,
  limit: number,
): Fragment {
  const present = sql`coalesce(outcome, case when expires_at_ms <= ${atMs} then 'expired' else 'pending' end)`;
  const scanned = sql`
    select ${challengeColumns}, ordinal, row_number() over (order by ordinal desc) as place,
      ${state === undefined ? sql`true` : sql`${present} = ${state}`} as "isHit"
    from otp_challenge where ordinal < ${before ?? Number.MAX_SAFE_INTEGER}
    order by ordinal desc limit ${MAX_SCANNED}`;
  return hitsIn([scanned], sql`ordinal desc`, limit, MAX_SCANNED);
}

/** Saves the only fields that change after a challenge is issued. */
function saving({ id, attempts, outcome, version }: ChallengeRecord, expectedVersion: number): Fragment {
  return sql`
    update otp_challenge set attempts = ${attempts}, outcome = ${outcome}, version = ${version}
    where id = ${id} and version = ${expectedVersion}`;
}

const CHALLENGE_FIELDS = [
  'id',
  'subject',
  'asker',
  'codeHash',
  'issuedAtMs',
  'expiresAtMs',
  'attempts',
  'maxAttempts',
  'outcome',
  'version',
] as const satisfies readonly (keyof ChallengeRecord)[];

const challengeColumns = sql(CHALLENGE_FIELDS);

/** Addresses that logged in or were lifted, in PostgreSQL. */
export function createPostgresLoginAddresses(database: Database): LoginAddresses {
  const { first, write } = statementsOf(database);
  return {
    async find(subject, email) {
      const found = await first<LoginAddress>`
        select exists (select from login where email = ${email}) or coalesce(logged_in_at_ms is not null, false) as "isKnown", lifted_at_ms
        from (select 1) as one left join login_address on subject = ${subject}`;
      return found ?? { isKnown: false, liftedAtMs: null };
    },

    loggedIn: (subject, atMs) => write`
      insert into login_address (subject, logged_in_at_ms) values (${subject}, ${atMs})
      on conflict (subject) do update set logged_in_at_ms = excluded.logged_in_at_ms`,

    lift: (subject, atMs) => write`
      insert into login_address (subject, lifted_at_ms) values (${subject}, ${atMs})
      on conflict (subject) do update set lifted_at_ms = excluded.lifted_at_ms`,
  };
}
