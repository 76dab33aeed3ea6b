-- What one operator did, and who did anything (docs/contract.md, section 8).
create index journal_act_of_actor on journal (actor, at_ms desc, ordinal desc) where kind = 'act' and actor is not null;
