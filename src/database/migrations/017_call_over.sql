-- Since when, and where, the provider says that a call is over, until a second witness says so as well (docs/contract.md, section 5.10).
alter table voice_call add column over_at_ms bigint;
alter table voice_call add column over_door text;
