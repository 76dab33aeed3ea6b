-- What an entry of a call added to each class of tokens, in the order of TOKEN_CLASSES (src/protocol/price.ts); null where none is known.
alter table usage_entry add column classes bigint[];

-- What we counted of a day (UTC) beside what the provider says of it, as it was when the provider was asked last.
create table reconciliation (
  day         text collate "C" not null,
  upstream    text collate "C" not null,
  -- Null until the provider has answered once.
  state       text,
  unexplained bigint not null default 0,
  -- The report of the day, as src/stores/reconciliations/contract.ts has it.
  report      text,
  asked_at_ms bigint not null,
  primary key (day, upstream)
);
