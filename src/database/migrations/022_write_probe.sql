-- What processes write only to learn whether the database takes writes: a row for each shard (docs/architecture.md, section 5).
create table write_probe (
  shard smallint primary key,
  at timestamptz not null
);
