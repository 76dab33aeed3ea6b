-- Lists of calls for operators, the newest first: of all, of a tenant, of a key, of those that are not over, and of those to look into.
create index voice_call_newest on voice_call (created_at_ms desc, id desc);
create index voice_call_newest_of_tenant on voice_call (tenant_id, created_at_ms desc, id desc);
create index voice_call_newest_of_key on voice_call (tenant_id, key_id, created_at_ms desc, id desc) where key_id is not null;
create index voice_call_newest_unfinished on voice_call (created_at_ms desc, id desc) where state <> 'closed';
create index voice_call_newest_unconfirmed on voice_call (created_at_ms desc, id desc) where hangup = 'unconfirmed';
