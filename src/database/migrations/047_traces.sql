-- Of a session that is traced: where its trace belongs and how its create went, and since when its spans may be made (docs/operations.md, Traces).
alter table session_setup add column trace jsonb;
alter table session_setup add column trace_due_at_ms bigint;
create index session_setup_trace_due on session_setup (trace_due_at_ms) where trace_due_at_ms is not null;
