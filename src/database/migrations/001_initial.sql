-- Times are milliseconds since the Unix epoch, by the clock of the node that wrote them.
-- Ids sort by their bytes (collate "C"), so that pages and lock orders do not depend on the server's locale.
-- Rows that change often get room on their page (fillfactor), so that an update touches no index.

create table installation_secret (
  name  text primary key,
  value bytea not null
);

create table tenant (
  id     text collate "C" primary key,
  name   text not null,
  agents jsonb not null,
  admins jsonb
);

create table widget_key (
  key             text collate "C" primary key,
  id              text collate "C" not null,
  tenant_id       text collate "C" not null references tenant (id),
  origin          text not null,
  label           text not null,
  agents          jsonb,
  allow_overrides boolean not null,
  limits          jsonb not null,
  revoked_at_ms   bigint,
  unique (tenant_id, id)
);

create table voice_session (
  id                  text collate "C" primary key,
  subject             text not null,
  caller              text not null,
  tenant_id           text not null,
  agent_id            text,
  key_id              text,
  named               boolean not null,
  login_id            text,
  provider            text not null,
  upstream_id         text not null,
  started_at_ms       bigint not null,
  last_seen_at_ms     bigint not null,
  last_activity_at_ms bigint not null,
  settled_at_ms       bigint not null,
  ended_at_ms         bigint,
  end_reason          text,
  state               text not null,
  version             integer not null,
  check ((ended_at_ms is null) = (end_reason is null)),
  check ((state = 'ended') = (ended_at_ms is not null))
) with (fillfactor = 80);
create index voice_session_active on voice_session (id) where ended_at_ms is null;
create index voice_session_newest on voice_session (started_at_ms desc, id desc);
create index voice_session_newest_active on voice_session (started_at_ms desc, id desc) where ended_at_ms is null;
create index voice_session_newest_of_tenant on voice_session (tenant_id, started_at_ms desc, id desc);
create index voice_session_ended on voice_session (ended_at_ms) where ended_at_ms is not null;

create table otp_challenge (
  id            text primary key,
  subject       text not null,
  code_hash     text not null,
  issued_at_ms  bigint not null,
  expires_at_ms bigint not null,
  attempts      integer not null,
  max_attempts  integer not null,
  outcome       text,
  version       integer not null,
  ordinal       bigint generated always as identity
);
create index otp_challenge_newest on otp_challenge (subject, ordinal desc);
create index otp_challenge_expiry on otp_challenge (expires_at_ms);

create table login (
  id              text primary key,
  email           text not null,
  created_at_ms   bigint not null,
  renewed_at_ms   bigint not null,
  expires_at_ms   bigint not null,
  destroyed_at_ms bigint,
  destroy_reason  text,
  version         integer not null,
  check ((destroyed_at_ms is null) = (destroy_reason is null))
);
create index login_expiry on login (expires_at_ms);

create table counter (
  key             text collate "C" not null,
  window_start_ms bigint not null,
  window_end_ms   bigint not null,
  count           integer not null,
  -- What the last statement that counted here was allowed at most, and how many it counted.
  allowance       integer not null,
  granted         integer not null,
  primary key (key, window_start_ms)
) with (fillfactor = 80);
create index counter_end on counter (window_end_ms);

create table usage_total (
  subject       text collate "C" not null,
  day           text collate "C" not null,
  tokens        bigint not null,
  micro_dollars bigint not null,
  primary key (subject, day)
) with (fillfactor = 80);

create table usage_entry (
  ordinal             bigint generated always as identity primary key,
  subject             text collate "C" not null,
  day                 text collate "C" not null,
  at_ms               bigint not null,
  tokens              bigint not null,
  micro_dollars       bigint not null,
  tenant_id           text,
  session_id          text,
  idempotency_key     text collate "C",
  -- The subject's totals of the day right after this entry.
  tokens_after        bigint not null,
  micro_dollars_after bigint not null
);
create index usage_entry_idempotency on usage_entry (subject, idempotency_key) where idempotency_key is not null;

-- The present holder of each idempotency key: the entry of this subject, key and time.
create table usage_key (
  subject         text collate "C" not null,
  idempotency_key text collate "C" not null,
  body_hash       text not null,
  at_ms           bigint not null,
  primary key (subject, idempotency_key)
);
create index usage_key_age on usage_key (at_ms);

create table replay (
  key_hash     text primary key,
  body_hash    text not null,
  token        text not null,
  sealed       bytea,
  until_ms     bigint not null
);
create index replay_until on replay (until_ms);

create table audit (
  ordinal    bigint generated always as identity primary key,
  at_ms      bigint not null,
  actor      text not null,
  action     text not null,
  target     text not null,
  reason     text,
  request_id text
);
