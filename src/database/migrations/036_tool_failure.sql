-- What went wrong with a tool of the server, for operators; null where nothing did, or nothing is known beyond the code.
alter table tool_call add column detail text;
