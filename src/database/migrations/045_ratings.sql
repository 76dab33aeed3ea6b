-- How the visitor found a conversation, from 1 to 5 (docs/contract.md, section 5.18); null where they did not say.
alter table voice_session add column rating smallint check (rating between 1 and 5);
