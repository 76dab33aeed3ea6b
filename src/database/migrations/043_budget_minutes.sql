-- Minutes of a budget, in their millionths (docs/contract.md, section 3.1). How long calls were connected is not kept beside them: voice_call
-- says when each was opened and ended.
alter table budget add column micro_minutes bigint;
-- The calls of a user, and those of a tenant that go on or ended lately, whose time is added up every second.
create index voice_call_of_subject on voice_call (subject, closed_at_ms);
create index voice_call_ended_of_tenant on voice_call (tenant_id, closed_at_ms);
