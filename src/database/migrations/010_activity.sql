-- What was refused, what went on, and which processes ran (docs/contract.md, section 8). Times are milliseconds since the Unix epoch.
create table refusal (
  ordinal      bigint generated always as identity primary key,
  request_id   text collate "C" not null unique,
  at_ms        bigint not null,
  code         text not null,
  status       smallint not null,
  layer        text not null,
  route        text not null,
  tenant_id    text,
  key_id       text,
  subject      text,
  origin       text,
  -- Keyed: it tells that two came from one address, and not from which.
  address_hash text,
  network      text,
  detail       jsonb not null,
  node         text not null
);
create index refusal_newest on refusal (at_ms desc, ordinal desc);
create index refusal_newest_of_code on refusal (code, at_ms desc, ordinal desc);
create index refusal_newest_of_key on refusal (tenant_id, key_id, at_ms desc, ordinal desc);

-- How often things happened, by minute and by hour; each process adds to rows of its own shard. '' is none.
create table activity (
  -- Of the bucket, in minutes: 1 or 60.
  span      smallint not null,
  bucket_ms bigint not null,
  kind      text collate "C" not null,
  label     text collate "C" not null,
  tenant_id text collate "C" not null,
  key_id    text collate "C" not null,
  shard     smallint not null,
  n         bigint not null,
  primary key (span, bucket_ms, kind, label, tenant_id, key_id, shard)
) with (fillfactor = 50);

-- Every process that ever served: the prefix is the one of its request ids.
create table node_run (
  prefix        text collate "C" primary key,
  node          text not null,
  host          text not null,
  version       text not null,
  config_hash   text not null,
  shard         smallint not null,
  started_at_ms bigint not null,
  stopped_at_ms bigint
);
create index node_run_started on node_run (started_at_ms);

-- How many request ids a process had given by a time, a row a minute.
create table node_minute (
  prefix    text collate "C" not null,
  minute_ms bigint not null,
  requests  bigint not null,
  at_ms     bigint not null,
  primary key (prefix, minute_ms)
);
create index node_minute_age on node_minute (minute_ms);
