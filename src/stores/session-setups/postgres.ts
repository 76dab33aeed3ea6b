import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { groupedById } from '../../kernel/async.ts';
import type { SessionSetup, SessionSetups } from './contract.ts';

/** Setups read in one statement; not more, because instructions may be long. */
const MAX_AT_ONCE = 100;

export function createPostgresSessionSetups(database: Database): SessionSetups {
  const { query } = statementsOf(database);
  return {
    // A node that takes over a dead node's calls asks for all of them at once.
    find: groupedById(
      (ids) =>
        query<SessionSetup>`
          select session_id, call_mode, model, voice, instructions, tools, behaviour, data_channel, locked as "forbidsOverrides",
              price, metadata, sealed_context, agent_version, trace, created_at_ms
          from session_setup where session_id = any(${ids}::text[])`,
      ({ sessionId }) => sessionId,
      MAX_AT_ONCE,
    ),
  };
}
