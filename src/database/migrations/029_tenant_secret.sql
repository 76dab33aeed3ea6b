-- What servers of a tenant are given: sealed, so that dumps and back-ups hold nothing that can be used. An older version is kept while a
-- signature by it may still be checked.
create table tenant_secret (
  tenant_id     text collate "C" not null,
  name          text collate "C" not null,
  version       integer not null,
  sealed        bytea not null,
  created_at_ms bigint not null,
  created_by    text not null,
  primary key (tenant_id, name, version)
);
