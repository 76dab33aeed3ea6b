-- What is stopped: a tenant, or with an empty tenant_id the whole installation.
create table emergency_stop (
  tenant_id text primary key,
  stopped_at_ms bigint not null,
  actor text not null,
  role text not null,
  reason text
);
