-- How the conversation of a session feels (docs/agents.md); null where all of it is the provider's default.
alter table session_setup add column behaviour jsonb;
