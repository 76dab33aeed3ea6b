-- Filters of lists that operators named (docs/contract.md, section 8). Whose is a keyed hash of the login's address; a view of a tenant is shown to all who are shown that.
create table saved_view (
  id text primary key,
  owner text not null,
  tenant_id text,
  name text not null,
  href text not null,
  created_at_ms bigint not null,
  unique (owner, name)
);
create index saved_view_tenant on saved_view (tenant_id) where tenant_id is not null;
