import { randomBytes } from 'node:crypto';
import type { Database } from '../../database/database.ts';
import type { Installation } from './contract.ts';

const SECRET_BYTES = 32;

/** Installation secrets in PostgreSQL. */
export function createPostgresInstallation(database: Database): Installation {
  return {
    async secret(name) {
      const proposal = randomBytes(SECRET_BYTES);
      // The update changes nothing: it makes the row that was first come back, whoever wrote it, also one committed just now.
      const [row] = await database.run(
        (sql) => sql<{ value: Buffer }[]>`
          insert into installation_secret as kept (name, value) values (${name}, ${proposal})
          on conflict (name) do update set value = kept.value
          returning value`,
      );
      if (row === undefined) throw new Error(`no installation secret ${name} came back`);
      return row.value;
    },
  };
}
