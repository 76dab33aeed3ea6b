-- What all widget keys of a tenant may use together, and how many there may be (docs/contract.md, section 3); null is no ceiling.
alter table tenant add column ceilings jsonb, add column max_keys integer;
-- The tenant's total right after an entry, as the key's.
alter table usage_entry add column tenant_tokens_after bigint, add column tenant_micro_dollars_after bigint;
-- Whether the pages of a key's brokered sessions get a data channel to the provider; null is as the agent says.
alter table widget_key add column data_channel text;
