-- Where facts are told to: servers of tenants, or with an empty tenant_id of the installation. Times are milliseconds since the Unix epoch.
create table webhook_endpoint (
  id               text collate "C" primary key,
  tenant_id        text collate "C" not null,
  url              text not null,
  types            text[] not null,
  created_at_ms    bigint not null,
  created_by       text not null,
  -- How it does, as the machine webhook-endpoint says.
  state            text not null,
  failures         integer not null,
  failing_since_ms bigint,
  probe_at_ms      bigint,
  probes           integer not null,
  healthy_since_ms bigint,
  disabled_for     text,
  version          integer not null
);
create index webhook_endpoint_of_tenant on webhook_endpoint (tenant_id);
create index webhook_endpoint_probed on webhook_endpoint (probe_at_ms) where state = 'failing';

-- What is told, as it is sent, and what of it was sent to whom. Only facts that somebody wants are here.
create table webhook_event (
  id        text collate "C" primary key,
  tenant_id text not null,
  type      text not null,
  at_ms     bigint not null,
  body      text not null
);
create index webhook_event_age on webhook_event (at_ms);

-- No reference to the endpoint: a fact that is saved while its endpoint is deleted must not fail for it.
create table webhook_delivery (
  event_id    text collate "C" not null references webhook_event (id) on delete cascade,
  endpoint_id text collate "C" not null,
  type        text not null,
  -- The ref of the session that it tells of.
  session     text collate "C",
  at_ms       bigint not null,
  state       text not null,
  -- Requests that were answered, or were not in time.
  attempts    integer not null,
  -- When it is sent next, or until when the node that sends it has for that; null where it is over.
  next_at_ms  bigint,
  done_at_ms  bigint,
  last_at_ms  bigint,
  last_status integer,
  last_code   text,
  ms          integer,
  primary key (event_id, endpoint_id)
);
create index webhook_delivery_waiting on webhook_delivery (endpoint_id, next_at_ms) where state = 'waiting';
create index webhook_delivery_newest on webhook_delivery (endpoint_id, at_ms desc, event_id desc);
create index webhook_delivery_of_session on webhook_delivery (session) where session is not null;

-- Sessions that have ended, and of which is still to be told what they cost in all.
create table webhook_settling (
  session_id text collate "C" primary key,
  from_ms    bigint not null
);
create index webhook_settling_due on webhook_settling (from_ms);
