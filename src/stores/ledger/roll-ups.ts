import { sql, type Fragment } from '../../database/statements.ts';
import { thisNode } from '../../node/this-node.ts';

/** Joins the key and agent of a session to the rows that name it; null if there is none. An index finds each session. */
export function withSession(sessionId: Fragment): Fragment {
  return sql`
    left join lateral (
      select key_id, agent_id from voice_session where id = ${sessionId} offset 0
    ) as session on true`;
}

/**
 * Part of a statement that writes entries (`counted`, see `writeUsageEvents`): adds them to the sums of hours and days. To avoid deadlocks, totals are
 * locked first, then days, then hours, each in a fixed order: days wait for whatever `counted` reads, which must be all totals, and hours wait for the
 * days.
 */
export const rolledUp = sql`
  used as materialized (
    select day, "atMs" - "atMs" % 3600000 as hour_ms, subject collate "C" as subject,
      coalesce("tenantId", '') collate "C" as tenant_id, coalesce(key_id, '') collate "C" as key_id,
      coalesce(agent_id, '') collate "C" as agent_id, tokens, "microDollars" as micro_dollars
    from counted where tokens <> 0 or "microDollars" <> 0
  ), by_day as (
    insert into usage_day as kept (day, subject, tenant_id, key_id, agent_id, tokens, micro_dollars)
    select day, subject, tenant_id, key_id, agent_id, sum(tokens), sum(micro_dollars) from used
    group by day, subject, tenant_id, key_id, agent_id order by day, subject, tenant_id, key_id, agent_id
    on conflict (day, subject, tenant_id, key_id, agent_id) do update set
      tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars
    returning 1
  ), by_hour as (
    insert into usage_hour as kept (hour_ms, tenant_id, key_id, agent_id, shard, tokens, micro_dollars)
    select hour_ms, tenant_id, key_id, agent_id, ${thisNode.shard}::smallint, sum(tokens), sum(micro_dollars)
    from used cross join (select count(*) from by_day) as after_days
    group by hour_ms, tenant_id, key_id, agent_id order by hour_ms, tenant_id, key_id, agent_id
    on conflict (hour_ms, tenant_id, key_id, agent_id, shard) do update set
      tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars
  )`;
