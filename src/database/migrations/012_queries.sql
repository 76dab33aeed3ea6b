-- What operators look for of one tenant or of one subject (docs/contract.md, section 8), without walking what is of others.
create index refusal_newest_of_tenant on refusal (tenant_id, at_ms desc, ordinal desc);
create index activity_of_tenant on activity (tenant_id, span, bucket_ms);
create index voice_session_newest_of_subject on voice_session (subject, started_at_ms desc, id desc);

-- What the admins of a tenant may set of the keys that they issue beside what everybody may.
alter table tenant add column admins_may jsonb;
