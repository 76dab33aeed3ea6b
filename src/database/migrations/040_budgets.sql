-- What may be used of something in a time, beside the ceilings of each day (docs/contract.md, section 3). An empty tenant_id is the
-- installation. What was used is not kept here: usage_total, usage_hour and usage_entry have it already.
create table budget (
  tenant_id     text collate "C" not null,
  id            text collate "C" not null,
  of_what       text not null,
  period        text not null,
  from_day      text,
  micro_dollars bigint,
  tokens        bigint,
  warn_at       jsonb not null,
  at_limit      text not null,
  -- The role of who made it; null for the tenants file.
  made_by       text,
  -- As the tenants file had it when it was merged last: a file that has not changed takes back no change that was made elsewhere.
  in_file       jsonb,
  version       integer not null,
  changed_at_ms bigint not null,
  primary key (tenant_id, id)
);

-- What operators were told of a budget in a period: the first row comes with the first threshold that is reached.
create table budget_state (
  tenant_id      text collate "C" not null,
  budget_id      text collate "C" not null,
  period         text collate "C" not null,
  -- Whose usage counts: of a budget of each user or session one of them.
  account        text collate "C" not null,
  told_percent   smallint not null,
  exceeded_at_ms bigint,
  budget_version integer not null,
  -- When it is of no use any more; null for a budget that never begins anew.
  until_ms       bigint,
  version        integer not null,
  primary key (tenant_id, budget_id, period, account)
);
create index budget_state_until on budget_state (until_ms) where until_ms is not null;
