-- Who asked for a code, as a keyed hash of the caller's address: some of its attempts are kept for that caller.
alter table otp_challenge add column asker text not null default '';
