-- When a call's agent said goodbye, so that no other node and no later call of the session has it said again; null if it has not.
alter table voice_call add column wrapped_up_at_ms bigint;
