-- Ceilings over all subjects of a widget key. What the subjects of a key used on a day is a usage_total whose subject is
-- `key:<tenant>:<key id>`; ids hold no colon, and the subject of a caller is 32 hex digits.

alter table widget_key add column totals jsonb not null default '{}';

-- The key's totals of the day right after the entry, for the reply of a repeat; null without a key.
alter table usage_entry add column key_tokens_after bigint;
alter table usage_entry add column key_micro_dollars_after bigint;

-- Sessions that are just being opened, of keys whose open sessions are counted: until they are in voice_session.
create table key_slot (
  session_id text collate "C" primary key,
  tenant_id  text collate "C" not null,
  key_id     text collate "C" not null,
  until_ms   bigint not null
);
create index key_slot_of_key on key_slot (tenant_id, key_id);

create index voice_session_active_of_key on voice_session (tenant_id, key_id) where ended_at_ms is null;
