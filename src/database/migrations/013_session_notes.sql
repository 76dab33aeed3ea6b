-- What happens to a voice session beside what its machine does (docs/contract.md, section 8) has no event and no state.
alter table actor_event
  alter column version drop not null,
  alter column event drop not null,
  alter column to_state drop not null;
