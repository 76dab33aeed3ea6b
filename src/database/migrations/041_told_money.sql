-- When the period of a budget that operators were told of was over, once that was told as well.
alter table budget_state add column closed_at_ms bigint;
