-- Refusals of whoever a session is of, among those of everybody else in its time (docs/contract.md, section 8).
create index journal_refusal_of_subject on journal (subject, at_ms desc, ordinal desc) where kind = 'refusal' and subject is not null;
