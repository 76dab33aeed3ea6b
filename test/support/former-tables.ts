import type { Database } from '../../src/database/database.ts';

/** Moves the journal's rows into the tables of earlier builds, in the form in which those builds wrote them. */
export async function moveToFormerTables(database: Database): Promise<void> {
  for (const statement of statements) await database.run((sql) => sql.unsafe(statement));
}

const statements = [
  `with taken as (delete from journal where kind in ('transition', 'note') returning *)
   insert into actor_event (ordinal, machine, actor, version, at_ms, kind, event, from_state, to_state, steps, guards, detail, node,
     request_id)
   overriding system value
   select ordinal, array_position(array['voice-session', 'voice-call', 'otp-challenge', 'auth-session'], machine), target,
     (detail ->> 'version')::int, at_ms, coalesce(detail ->> 'change', code), case when kind = 'transition' then code end,
     detail ->> 'from', detail ->> 'to', coalesce(detail -> 'steps', '[]'), coalesce(detail -> 'guards', '[]'),
     case when kind = 'transition' then detail -> 'record' else detail end, node, request_id
   from taken`,
  `with taken as (delete from journal where kind = 'lost' returning *)
   insert into actor_event_lost (ordinal, node, from_ms, to_ms, events)
   overriding system value
   select ordinal, node, (detail ->> 'fromMs')::int8, at_ms, (detail ->> 'count')::int from taken`,
  `with taken as (delete from journal where kind = 'refusal' returning *)
   insert into refusal (ordinal, request_id, at_ms, code, status, layer, route, tenant_id, key_id, subject, origin, address_hash, network,
     detail, node)
   overriding system value
   select ordinal, request_id, at_ms, code, (detail ->> 'status')::smallint, detail ->> 'layer', detail ->> 'route', tenant_id, key_id,
     subject, detail ->> 'origin', detail ->> 'addressHash', detail ->> 'network',
     detail - '{status,layer,route,origin,addressHash,network}'::text[], node
   from taken`,
  `with taken as (delete from journal where kind = 'act' returning *)
   insert into audit (ordinal, at_ms, actor, role, action, target, tenant_id, reason, request_id, batch_id, result, count)
   overriding system value
   select ordinal, at_ms, actor, detail ->> 'role', code, target, tenant_id, detail ->> 'reason', request_id, batch_id,
     detail ->> 'result', (detail ->> 'count')::int
   from taken`,
  `with taken as (delete from journal where kind = 'process' returning *)
   insert into node_run (prefix, node, host, version, config_hash, shard, started_at_ms, stopped_at_ms)
   select target, node, detail ->> 'host', detail ->> 'version', detail ->> 'configHash', (detail ->> 'shard')::smallint,
     min(at_ms) filter (where code = 'started'), min(at_ms) filter (where code = 'stopped')
   from taken group by target, node, detail`,
];
