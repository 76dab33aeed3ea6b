import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { randomId } from '../../kernel/ids.ts';
import { grouped } from '../../kernel/async.ts';
import type { ReplyState, IdempotentReplies } from './contract.ts';

interface Look {
  readonly keyHash: string;
  readonly bodyHash: string;
  readonly atMs: number;
}

interface Row {
  readonly keyHash: string;
  readonly bodyHash: string;
  readonly sealed: Buffer | null;
  readonly untilMs: number;
}

/** Kept replies in PostgreSQL: looks that arrive together share one statement. */
export function createPostgresIdempotentReplies(database: Database): IdempotentReplies {
  const { query, write, some } = statementsOf(database);
  const lookAt = grouped(async (looks: readonly Look[]) => {
    const rows = await query<Row>`
      select key_hash, body_hash, sealed, until_ms
      from replay where key_hash = any(${looks.map(({ keyHash }) => keyHash)}::text[])`;
    const byKey = new Map(rows.map((row) => [row.keyHash, row]));
    return looks.map((look) => compare(byKey.get(look.keyHash), look));
  });
  const look = (keyHash: string, bodyHash: string, atMs: number) => lookAt({ keyHash, bodyHash, atMs });
  return {
    look,

    async claim(keyHash, bodyHash, claimMs, atMs) {
      const token = randomId();
      // In one step: takes the row if there is none, or if the claim or the reply in it has lapsed.
      const isClaimed = await some`
        insert into replay as held (key_hash, body_hash, token, sealed, until_ms)
        values (${keyHash}, ${bodyHash}, ${token}, null, ${atMs + claimMs})
        on conflict (key_hash) do update set body_hash = excluded.body_hash, token = excluded.token, sealed = null,
          until_ms = excluded.until_ms
          where held.until_ms <= ${atMs}`;
      if (isClaimed) return { kind: 'claimed', token };
      const found = await look(keyHash, bodyHash, atMs);
      // Given up meanwhile: another request may have claimed it by now.
      return found.kind === 'free' ? { kind: 'pending' } : found;
    },

    keep: (keyHash, token, sealed, untilMs) => write`
      update replay set sealed = ${sealed}, until_ms = ${untilMs}
      where key_hash = ${keyHash} and token = ${token} and sealed is null`,

    release: (keyHash, token) =>
      write`delete from replay where key_hash = ${keyHash} and token = ${token} and sealed is null`,
  };
}

function compare(row: Row | undefined, { bodyHash, atMs }: Look): ReplyState {
  if (row === undefined || row.untilMs <= atMs) return { kind: 'free' };
  if (row.bodyHash !== bodyHash) return { kind: 'mismatch' };
  return row.sealed === null ? { kind: 'pending' } : { kind: 'kept', sealed: row.sealed };
}
