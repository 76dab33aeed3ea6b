import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import type { LoginAddress, LoginAddresses } from './contract.ts';

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
