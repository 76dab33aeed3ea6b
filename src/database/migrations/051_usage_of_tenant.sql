-- What a tenant used, in the order of time (docs/contract.md, section 8).
create index usage_entry_of_tenant on usage_entry (tenant_id, at_ms, ordinal) where tenant_id is not null;
