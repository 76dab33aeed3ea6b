-- What machines did, for those who ask afterwards (docs/contract.md, section 8). Times are milliseconds since the Unix epoch.
create table actor_event (
  ordinal    bigint generated always as identity primary key,
  -- 1 voice-session, 2 voice-call, 3 otp-challenge, 4 auth-session.
  machine    smallint not null,
  actor      text collate "C" not null,
  version    integer not null,
  at_ms      bigint not null,
  kind       text not null,
  event      text not null,
  from_state text,
  to_state   text not null,
  steps      jsonb not null,
  guards     jsonb not null,
  detail     jsonb not null,
  node       text not null,
  request_id text
);
create index actor_event_of_actor on actor_event (machine, actor, ordinal desc);
create index actor_event_of_request on actor_event (request_id) where request_id is not null;

-- Times in which a node had no room for events.
create table actor_event_lost (
  ordinal bigint generated always as identity primary key,
  node    text not null,
  from_ms bigint not null,
  to_ms   bigint not null,
  events  integer not null
);
create index actor_event_lost_until on actor_event_lost (to_ms);
