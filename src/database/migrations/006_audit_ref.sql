-- The whole id of a voice session is its caller's proof: the audit names a session by its first 42 characters (its ref).
update audit set target = left(target, 42) where target ~ '^s:[0-9a-f]{32}:';

-- Who did what to this, and when.
create index audit_target on audit (target, at_ms desc, ordinal);
