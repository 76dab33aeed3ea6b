-- Calls at providers, which one node each holds (docs/contract.md, section 5.10). Times are milliseconds since the Unix epoch.
create table voice_call (
  id                  text collate "C" primary key,
  session_id          text collate "C" not null,
  subject             text not null,
  tenant_id           text not null,
  key_id              text,
  provider            text not null,
  model               text not null,
  state               text not null,
  provider_call_id    text,
  created_at_ms       bigint not null,
  opened_at_ms        bigint,
  closed_at_ms        bigint,
  close_reason        text,
  hangup              text not null,
  hangup_tries        integer not null,
  next_try_at_ms      bigint,
  unheard_since_ms    bigint,
  give_up_at_ms       bigint,
  provider_ends_at_ms bigint,
  grace_until_ms      bigint,
  owner_node          text collate "C" not null,
  fence               integer not null,
  -- When the clock alone moves it next, or the provider is to be asked again; null when never.
  due_at_ms           bigint,
  version             integer not null,
  check ((state = 'closed') = (closed_at_ms is not null))
) with (fillfactor = 80);
create index voice_call_of_session on voice_call (session_id, created_at_ms desc);
-- Two exchanges of one session never run at once.
create unique index voice_call_creating on voice_call (session_id) where state = 'creating';
create index voice_call_due on voice_call (owner_node, due_at_ms) where state <> 'closed' or grace_until_ms is not null;
create index voice_call_closed on voice_call (closed_at_ms) where closed_at_ms is not null;

-- Whether Switchboard hears the session's calls itself.
alter table voice_session add column heard boolean not null default false;

-- Nodes that are alive: what others own may be taken over.
create table live_node (
  node     text collate "C" primary key,
  until_ms bigint not null
);
create index live_node_until on live_node (until_ms);

-- What opens a call of a brokered session, once; kept as a hash.
create table call_ticket (
  hash       text primary key,
  session_id text collate "C" not null,
  until_ms   bigint not null
);
create index call_ticket_until on call_ticket (until_ms);

-- What a session was created with, beside its record.
create table session_setup (
  session_id    text collate "C" primary key,
  call_mode     text not null,
  model         text not null,
  voice         text not null,
  instructions  text,
  tools         jsonb not null,
  data_channel  text not null,
  locked        boolean not null,
  price         jsonb,
  metadata      jsonb,
  created_at_ms bigint not null
);
create index session_setup_age on session_setup (created_at_ms);

-- How the calls of a key's sessions are opened; null is as the agent or CALL_MODE says.
alter table widget_key add column call_mode text;

-- What open sessions are expected to use, held back from others.
create table usage_hold (
  session_id    text collate "C" not null,
  account       text collate "C" not null,
  tokens        bigint not null,
  micro_dollars bigint not null,
  until_ms      bigint not null,
  primary key (session_id, account)
);
create index usage_hold_of_account on usage_hold (account);
create index usage_hold_until on usage_hold (until_ms);

-- What a call has used in all, as metered here: entries of the ledger are the differences of its charge.
create table call_meter (
  call_id        text collate "C" primary key,
  basis          text not null,
  -- As the provider's events told them.
  text_in        bigint not null default 0,
  text_cached    bigint not null default 0,
  text_out       bigint not null default 0,
  audio_in       bigint not null default 0,
  audio_cached   bigint not null default 0,
  audio_out      bigint not null default 0,
  image_in       bigint not null default 0,
  image_cached   bigint not null default 0,
  -- Millionths of a micro-dollar, exact: what was measured, what gaps were estimated at, what clients reported for gaps.
  pico_measured  numeric(30, 0) not null default 0,
  pico_estimated numeric(30, 0) not null default 0,
  pico_reported  numeric(30, 0) not null default 0,
  -- Charged in all; it never falls.
  micro_dollars  bigint not null default 0,
  -- Of a cumulative meter: the highest total so far.
  total_ms       bigint not null default 0,
  gap_ms         bigint not null default 0,
  since_ms       bigint not null
) with (fillfactor = 80);
create index call_meter_age on call_meter (since_ms);

-- Of an entry that was metered here: which call, how it is known, by which prices, and its own price before it was rounded.
alter table usage_entry add column call_id text collate "C";
alter table usage_entry add column basis text;
alter table usage_entry add column model text;
alter table usage_entry add column price_version text;
alter table usage_entry add column estimated boolean;
alter table usage_entry add column pico_dollars numeric(30, 0);
-- What a client reported and the provider's events told later stands there twice, and counts once.
create unique index usage_entry_of_call on usage_entry (call_id, idempotency_key, (basis = 'reported'))
  where call_id is not null;
