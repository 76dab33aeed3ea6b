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
