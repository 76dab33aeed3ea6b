import { randomBytes } from 'node:crypto';
import { PATIENT, type Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { thisNode } from '../../node/this-node.ts';
import type { Installation } from './contract.ts';

const SECRET_BYTES = 32;

/** One slow write is not an outage; requests have deadlines of their own. */
const TRIAL_PATIENCE = { deadlineMs: 3_000 };

/** Installation secrets in PostgreSQL, and whether it takes writes. */
export function createPostgresInstallation(database: Database): Installation {
  return {
    async secret(name) {
      const proposal = randomBytes(SECRET_BYTES);
      // The update changes nothing: it makes the statement return the first row, whoever wrote it, even if it was committed just now.
      const secret = await statementsOf(database, PATIENT).value<Buffer | undefined>`
        insert into installation_secret as kept (name, value) values (${name}, ${proposal})
        on conflict (name) do update set value = kept.value
        returning value`;
      if (secret === undefined) throw new Error(`no installation secret ${name} came back`);
      return secret;
    },

    tryWrite: () => statementsOf(database, TRIAL_PATIENCE).write`
        insert into write_probe (shard, at) values (${thisNode.shard}, now())
        on conflict (shard) do update set at = excluded.at`,
  };
}
