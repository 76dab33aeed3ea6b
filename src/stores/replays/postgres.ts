import type { Database } from '../../database/database.ts';
import { randomId } from '../../kernel/ids.ts';
import type { Claim, Replays } from './contract.ts';

interface Row {
  readonly bodyHash: string;
  readonly token: string;
  readonly sealed: Buffer | null;
}

/** Kept replies in PostgreSQL. */
export function createPostgresReplays(database: Database): Replays {
  return {
    async claim(keyHash, bodyHash, claimMs, atMs) {
      const token = randomId();
      // One step: whatever the row was, it comes back as it is now, taken over only when the claim or the reply in it has lapsed.
      const [row] = await database.run(
        (sql) => sql<Row[]>`
          insert into replay as held (key_hash, body_hash, token, sealed, until_ms)
          values (${keyHash}, ${bodyHash}, ${token}, null, ${atMs + claimMs})
          on conflict (key_hash) do update set
            body_hash = case when held.until_ms <= ${atMs} then excluded.body_hash else held.body_hash end,
            token = case when held.until_ms <= ${atMs} then excluded.token else held.token end,
            sealed = case when held.until_ms <= ${atMs} then null else held.sealed end,
            until_ms = case when held.until_ms <= ${atMs} then excluded.until_ms else held.until_ms end
          returning body_hash as "bodyHash", token, sealed`,
      );
      return judge(row, token, bodyHash);
    },

    async keep(keyHash, token, sealed, untilMs) {
      await database.run(
        (sql) => sql`
          update replay set sealed = ${sealed}, until_ms = ${untilMs}
          where key_hash = ${keyHash} and token = ${token} and sealed is null`,
      );
    },

    async release(keyHash, token) {
      await database.run(
        (sql) => sql`delete from replay where key_hash = ${keyHash} and token = ${token} and sealed is null`,
      );
    },
  };
}

function judge(row: Row | undefined, token: string, bodyHash: string): Claim {
  if (row === undefined) throw new Error('no replay came back from a claim');
  if (row.token === token) return { kind: 'claimed', token };
  if (row.bodyHash !== bodyHash) return { kind: 'mismatch' };
  return row.sealed === null ? { kind: 'pending' } : { kind: 'kept', sealed: row.sealed };
}
