import type { ChallengeRecord, ChallengeState } from '../../../machines/otp-challenge/types.ts';
import type { AnySql, Database, Sql } from '../../database/database.ts';
import { insertLogin } from '../logins/postgres.ts';
import { MAX_SCANNED, pageOfScans, type Scanned } from '../scanned-page.ts';
import type { Askers, Challenges } from './contract.ts';

/** OTP challenges in PostgreSQL. */
export function createPostgresChallenges(database: Database): Challenges {
  return {
    async load(id) {
      const [record] = await database.run(
        (sql) => sql<ChallengeRecord[]>`select ${columns(sql)} from otp_challenge where id = ${id}`,
      );
      return record;
    },

    save: (record, expectedVersion) => database.run((sql) => saveChallenge(sql, record, expectedVersion)),

    redeem(record, expectedVersion, login) {
      return database.transaction(async (sql) => {
        const isSaved = await saveChallenge(sql, record, expectedVersion);
        if (isSaved) await insertLogin(sql, login, record.subject);
        return isSaved;
      });
    },

    async insert({ id, subject, asker, codeHash, issuedAtMs, expiresAtMs, attempts, maxAttempts, outcome, version }) {
      await database.run(
        (sql) => sql`
          insert into otp_challenge
            (id, subject, asker, code_hash, issued_at_ms, expires_at_ms, attempts, max_attempts, outcome, version)
          values (${id}, ${subject}, ${asker}, ${codeHash}, ${issuedAtMs}, ${expiresAtMs}, ${attempts}, ${maxAttempts},
            ${outcome}, ${version})`,
      );
    },

    async list(state, atMs, before, limit) {
      const found = await database.run((sql) => scan(sql, state, atMs, before, limit + 1));
      const { hits, last, isPartial } = pageOfScans(found, limit, MAX_SCANNED);
      return {
        challenges: hits.map(({ ordinal: _ordinal, ...record }): ChallengeRecord => record),
        next: last?.ordinal,
        searchedToMs: isPartial ? last?.issuedAtMs : undefined,
      };
    },

    async newest(subject, askers) {
      const [record] = await database.run(
        (sql) => sql<ChallengeRecord[]>`
          select ${columns(sql)} from otp_challenge where subject = ${subject} and ${isBy(sql, askers)}
          order by ordinal desc limit 1`,
      );
      return record;
    },
  };
}

function isBy(sql: AnySql, askers: Askers | undefined) {
  if (askers === undefined) return sql`true`;
  return 'only' in askers ? sql`asker = ${askers.only}` : sql`asker <> ${askers.but}`;
}

interface WalkedRow extends ChallengeRecord, Scanned {
  readonly ordinal: number;
}

function scan(sql: Sql, state: ChallengeState | undefined, atMs: number, before: number | undefined, limit: number) {
  const present = sql`coalesce(outcome, case when expires_at_ms <= ${atMs} then 'expired' else 'pending' end)`;
  return sql<WalkedRow[]>`
    select * from (
      select ${columns(sql)}, ordinal, row_number() over (order by ordinal desc) as place,
        ${state === undefined ? sql`true` : sql`${present} = ${state}`} as "isHit"
      from otp_challenge where ordinal < ${before ?? Number.MAX_SAFE_INTEGER}
      order by ordinal desc limit ${MAX_SCANNED}
    ) as scanned
    where "isHit" or place = ${MAX_SCANNED} order by ordinal desc limit ${limit}`;
}

/** Saves the only fields that change after a challenge is issued. */
async function saveChallenge(
  sql: AnySql,
  { id, attempts, outcome, version }: ChallengeRecord,
  expectedVersion: number,
): Promise<boolean> {
  const { count } = await sql`
    update otp_challenge set attempts = ${attempts}, outcome = ${outcome}, version = ${version}
    where id = ${id} and version = ${expectedVersion}`;
  return count === 1;
}

function columns(sql: AnySql) {
  return sql`
    id, subject, asker, code_hash as "codeHash", issued_at_ms as "issuedAtMs", expires_at_ms as "expiresAtMs",
    attempts, max_attempts as "maxAttempts", outcome, version`;
}
