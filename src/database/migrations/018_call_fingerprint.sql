-- At which provider, address and credential a call was created, as a keyed hash: who has another cannot ask for it. Null for calls of before.
alter table voice_call add column fingerprint text;
