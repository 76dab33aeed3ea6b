-- Until when a call of the session is heard at least: until then its heartbeats are no activity (docs/contract.md, section 5.3).
alter table voice_session add column heard_until_ms bigint not null default 0;
