-- An idempotency key belongs to the session that its report names, else to the subject: strangers on one widget key share a subject.
-- Session ids begin with s: and subjects never do, so that both stand in the same column.
comment on column usage_key.subject is 'the session that the report names, else its subject';
update usage_key set subject = entry.session_id
from usage_entry as entry
where entry.subject = usage_key.subject and entry.idempotency_key = usage_key.idempotency_key
  and entry.at_ms = usage_key.at_ms and entry.session_id is not null;

-- What the client of a session has reported in all, where the installation bounds that.
create table usage_session (
  session_id    text collate "C" primary key,
  tokens        bigint not null,
  micro_dollars bigint not null,
  -- The first report. It never changes, so that a sum grows without touching an index.
  since_ms      bigint not null
) with (fillfactor = 80);
create index usage_session_age on usage_session (since_ms);
