-- A widget key that opens no new sessions for the time being (docs/contract.md, section 3).
alter table widget_key add column paused_at_ms bigint;
