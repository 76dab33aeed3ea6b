-- What nodes agree on about the time: by how much it is ahead of the clock of each store (docs/architecture.md, section 4).
create table agreed_time (
  id boolean primary key default true check (id),
  version bigint not null,
  registry_lead_ms bigint not null,
  since_ms bigint not null,
  database_lead_ms bigint not null,
  vouched bigint not null,
  vouched_at_ms bigint not null
);
