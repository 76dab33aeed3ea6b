-- When a session of a new visitor ends unless words of the visitor are heard before; 0 where none are due (docs/contract.md, section 4.5).
alter table voice_session add column words_due_at_ms bigint not null default 0;
-- Those that end so, the next one first.
create index voice_session_words_due on voice_session (words_due_at_ms, id) where ended_at_ms is null and words_due_at_ms > 0;
