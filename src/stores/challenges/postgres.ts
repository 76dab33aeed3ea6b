import type { ChallengeRecord, ChallengeState } from '../../../machines/otp-challenge/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { insertedLogin } from '../logins/postgres.ts';
import { writeGivenEvents } from '../webhooks/outbox.ts';
import { hitsIn, MAX_SCANNED, pageOfScans, type Scanned } from '../scanned-page.ts';
import type { Askers, Challenges } from './contract.ts';

/** OTP challenges in PostgreSQL. */
export function createPostgresChallenges(database: Database): Challenges {
  const { query, first, write, execute } = statementsOf(database);
  return {
    load: (id) => first<ChallengeRecord>`select ${columns} from otp_challenge where id = ${id}`,

    async save(record, expectedVersion, lockedAtMs) {
      const { subject, attempts } = record;
      const data = { tenantId: null, subject, attempts };
      const locked =
        lockedAtMs === undefined ? [] : [{ type: 'login.locked', tenantId: null, atMs: lockedAtMs, data } as const];
      const saved = await execute`
        with saved as (${saving(record, expectedVersion)} returning id), ${writeGivenEvents(locked)}
        select id from saved`;
      return saved === 1;
    },

    redeem: (record, expectedVersion, login) =>
      database.transaction(async (sql) => {
        const { count } = await sql`${saving(record, expectedVersion)}`;
        if (count === 1) await sql`${insertedLogin(login, record.subject)}`;
        return count === 1;
      }),

    insert: (record) => write`insert into otp_challenge ${sql(record, FIELDS)}`,

    async list(state, atMs, before, limit) {
      const found = await query<WalkedRow>`${scan(state, atMs, before, limit + 1)}`;
      const { hits, last, isPartial } = pageOfScans(found, limit, MAX_SCANNED);
      return {
        challenges: hits.map(({ ordinal: _ordinal, ...record }): ChallengeRecord => record),
        next: last?.ordinal,
        searchedToMs: isPartial ? last?.issuedAtMs : undefined,
      };
    },

    newest: (subject, askers) => first<ChallengeRecord>`
      select ${columns} from otp_challenge where subject = ${subject} and ${isBy(askers)}
      order by ordinal desc limit 1`,
  };
}

function isBy(askers: Askers | undefined) {
  if (askers === undefined) return sql`true`;
  return 'only' in askers ? sql`asker = ${askers.only}` : sql`asker <> ${askers.but}`;
}

interface WalkedRow extends ChallengeRecord, Scanned {
  readonly ordinal: number;
}

function scan(state: ChallengeState | undefined, atMs: number, before: number | undefined, limit: number): Fragment {
  const present = sql`coalesce(outcome, case when expires_at_ms <= ${atMs} then 'expired' else 'pending' end)`;
  const scanned = sql`
    select ${columns}, ordinal, row_number() over (order by ordinal desc) as place,
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

/** A record may have more fields, of a later build: they are not written. */
const FIELDS = [
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

const columns = sql(FIELDS);
