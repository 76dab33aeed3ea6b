-- In which role somebody acted, on whose behalf, what came of it, and which changes were made together (docs/contract.md, section 8).
alter table audit
  add column role text,
  add column tenant_id text,
  add column batch_id text,
  add column result text,
  add column count integer;

-- What of older rows can be told apart. The ids of sessions begin with their refs.
update audit set tenant_id = split_part(target, '/', 1) where action like 'key.%';
update audit set tenant_id = session.tenant_id from voice_session as session
where audit.target like 's:%' and session.id >= audit.target and session.id < audit.target || '~';

create index audit_newest on audit (at_ms desc, ordinal desc);
create index audit_batch on audit (batch_id) where batch_id is not null;

-- What operators look for among logins and codes.
create index login_newest on login (created_at_ms desc, id desc);
create index login_of_email on login (email, created_at_ms desc);
create index otp_challenge_latest on otp_challenge (ordinal desc);
