-- Counts and usage as operators are shown them (docs/contract.md, section 8). Rows that all processes add to have a shard for each process,
-- and 0 for what belongs to none (src/stores/shard.ts).

-- Live sessions by tenant, caller and state. A shard alone may be below zero: a session may start on one and end on another.
create table session_tally (
  shard     smallint not null,
  tenant_id text collate "C" not null,
  caller    text collate "C" not null,
  state     text collate "C" not null,
  sessions  integer not null,
  primary key (shard, tenant_id, caller, state)
) with (fillfactor = 50);
insert into session_tally (shard, tenant_id, caller, state, sessions)
select 0, tenant_id, caller, state, count(*) from voice_session where ended_at_ms is null group by tenant_id, caller, state;

-- What operators filter sessions by; no index holds a column that a heartbeat changes.
create index voice_session_newest_of_state on voice_session (state, started_at_ms desc, id desc) where ended_at_ms is null;
create index voice_session_newest_of_key on voice_session (tenant_id, key_id, started_at_ms desc, id desc);
create index voice_session_newest_of_agent on voice_session (tenant_id, agent_id, started_at_ms desc, id desc);
create index voice_session_newest_of_reason on voice_session (end_reason, started_at_ms desc, id desc) where ended_at_ms is not null;
create index voice_session_of_upstream on voice_session (upstream_id);

-- Whose key and agent it was: those of the session; null for usage without one.
alter table usage_entry add column key_id text;
alter table usage_entry add column agent_id text;
create index usage_entry_of_session on usage_entry (session_id) where session_id is not null;
create index usage_entry_time on usage_entry (at_ms);

-- What was used, added up, in the statements of the entries themselves; '' is none. An hour begins at a whole hour of UTC.
create table usage_hour (
  hour_ms       bigint not null,
  tenant_id     text collate "C" not null,
  key_id        text collate "C" not null,
  agent_id      text collate "C" not null,
  shard         smallint not null,
  tokens        bigint not null,
  micro_dollars bigint not null,
  primary key (hour_ms, tenant_id, key_id, agent_id, shard)
) with (fillfactor = 50);
create index usage_hour_of_tenant on usage_hour (tenant_id, hour_ms);

-- Of a day and a subject they sum to its usage_total. They need no shard: whoever writes them holds that total.
create table usage_day (
  day           text collate "C" not null,
  subject       text collate "C" not null,
  tenant_id     text collate "C" not null,
  key_id        text collate "C" not null,
  agent_id      text collate "C" not null,
  tokens        bigint not null,
  micro_dollars bigint not null,
  primary key (day, subject, tenant_id, key_id, agent_id)
) with (fillfactor = 80);
create index usage_day_of_tenant on usage_day (tenant_id, day);

with used as materialized (
  select entry.day, entry.at_ms - entry.at_ms % 3600000 as hour_ms, entry.subject, coalesce(entry.tenant_id, '') as tenant_id,
    coalesce(session.key_id, '') as key_id, coalesce(session.agent_id, '') as agent_id, entry.tokens, entry.micro_dollars
  from usage_entry as entry left join voice_session as session on session.id = entry.session_id
), hours as (
  insert into usage_hour (hour_ms, tenant_id, key_id, agent_id, shard, tokens, micro_dollars)
  select hour_ms, tenant_id, key_id, agent_id, 0, sum(tokens), sum(micro_dollars) from used
  group by hour_ms, tenant_id, key_id, agent_id
)
insert into usage_day (day, subject, tenant_id, key_id, agent_id, tokens, micro_dollars)
select day, subject, tenant_id, key_id, agent_id, sum(tokens), sum(micro_dollars) from used
group by day, subject, tenant_id, key_id, agent_id;

-- Totals live longer than their entries: the rest is nobody's in particular.
insert into usage_day as kept (day, subject, tenant_id, key_id, agent_id, tokens, micro_dollars)
select total.day, total.subject, '', '', '', total.tokens - coalesce(known.tokens, 0),
  total.micro_dollars - coalesce(known.micro_dollars, 0)
from usage_total as total
  left join (
    select day, subject, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as micro_dollars
    from usage_day group by day, subject
  ) as known on known.day = total.day and known.subject = total.subject
where total.subject not like 'key:%'
  and (total.tokens, total.micro_dollars) is distinct from (coalesce(known.tokens, 0), coalesce(known.micro_dollars, 0))
on conflict (day, subject, tenant_id, key_id, agent_id) do update set
  tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars;
