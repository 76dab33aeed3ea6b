-- Lists of those who are shown some tenants look through nothing that is of others (docs/contract.md, section 8).
create index voice_session_ended_of_tenant on voice_session (tenant_id, ended_at_ms desc, id desc) where ended_at_ms is not null;
create index audit_newest_of_tenant on audit (tenant_id, at_ms desc, ordinal desc) where tenant_id is not null;
