-- Why the server of a tool wants the session to end, in a word; null where it does not.
alter table tool_call add column end_reason text;
