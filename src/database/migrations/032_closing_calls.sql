-- Since when a call is to be hung up; null for calls that an earlier version began to close.
alter table voice_call add column closing_at_ms bigint;
create index voice_call_closing on voice_call (closing_at_ms) where state = 'closing';
