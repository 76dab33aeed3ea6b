-- Calls of tools of the server: what a node that takes a voice call over must know. Arguments and answers are not kept.
create table tool_call (
  id           text collate "C" primary key,
  call_id      text collate "C" not null references voice_call (id) on delete cascade,
  tool_call_id text collate "C" not null,
  session_id   text collate "C" not null,
  name         text not null,
  repeatable   boolean not null,
  state        text not null,
  asked_at_ms  bigint not null,
  until_ms     bigint not null,
  tries        integer not null,
  code         text,
  ms           bigint,
  bytes        integer,
  fence        integer not null,
  version      integer not null,
  unique (call_id, tool_call_id)
);
create index tool_call_of_session on tool_call (session_id, asked_at_ms);
