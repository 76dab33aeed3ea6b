import { sql, type Fragment } from '../../database/statements.ts';
import { CHUNK } from './contract.ts';
import { deletionOf } from './delete-expired.ts';

/** The statement that folds at most CHUNK rows of hours that are over: those of the shard 0 are of all processes, and no entry adds to them. */
export function foldUsageHours(beforeMs: number): Fragment {
  const some = sql`shard <> 0 and hour_ms < ${beforeMs} order by hour_ms limit ${CHUNK}`;
  return sql`
    with folded as (
      ${deletionOf('usage_hour', some)} returning *
    ), kept as (
      insert into usage_hour as kept (hour_ms, tenant_id, key_id, agent_id, shard, tokens, micro_dollars)
      select hour_ms, tenant_id, key_id, agent_id, 0, sum(tokens), sum(micro_dollars) from folded
      group by hour_ms, tenant_id, key_id, agent_id order by hour_ms, tenant_id, key_id, agent_id
      on conflict (hour_ms, tenant_id, key_id, agent_id, shard) do update set
        tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars
    )
    select count(*)::integer from folded`;
}
