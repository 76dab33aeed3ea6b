-- What lets the next page of a visitor go on with a session: one of each session, single use, kept as a hash.
create table resume_token (
  session_id text collate "C" primary key,
  hash       text collate "C" not null unique,
  -- When the session is over at the latest.
  until_ms   bigint not null
);
create index resume_token_until on resume_token (until_ms);
