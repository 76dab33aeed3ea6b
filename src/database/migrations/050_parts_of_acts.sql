-- Whose the act is that a part was done with, so that lists can have that act alone (docs/contract.md, section 8).
alter table journal add column part_of text;

-- Of earlier acts only the newest: a start must not wait for all of them. The others stay listed part by part.
update journal as part set part_of = case when part.tenant_id = whole.tenant_id then 'tenant' else 'installation' end
from (select batch_id, tenant_id from journal where kind = 'act' and code = 'sessions.end' and batch_id is not null
  order by at_ms desc limit 200) as whole
where part.batch_id = whole.batch_id and part.kind = 'act' and part.code = 'session.end';

create index journal_act_whole on journal (at_ms desc, ordinal desc) where kind = 'act' and part_of is null;
create index journal_act_whole_of_actor on journal (actor, at_ms desc, ordinal desc)
  where kind = 'act' and part_of is null and actor is not null;
-- A range of one kind: by `kind = 'act'` the planner would read the larger journal_newest_of_tenant, past all parts.
create index journal_act_whole_of_tenant on journal (kind, tenant_id, at_ms desc, ordinal desc)
  where kind between 'act' and 'act' and part_of is distinct from 'tenant' and tenant_id is not null;
