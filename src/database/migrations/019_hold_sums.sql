-- What is held of an account, kept as a sum so that nobody adds up all that is open (docs/contract.md, section 5.12). From now on a hold
-- says what is left of it: entries of the ledger lower it, and the end or the idleness of its session deletes it.

-- Nobody changes holds until they and their sums agree.
lock table usage_hold in share row exclusive mode;

-- A session that has no call, or is not engaged any more, holds nothing.
delete from usage_hold as hold
where not exists (select from voice_call as call where call.session_id = hold.session_id)
  or exists (select from voice_session as session where session.id = hold.session_id and session.state <> 'engaged');

update usage_hold as hold set micro_dollars = greatest(0, hold.micro_dollars - used.micro_dollars)
from (
  select call.session_id, sum(meter.micro_dollars)::bigint as micro_dollars
  from voice_call as call join call_meter as meter on meter.call_id = call.id
  group by call.session_id
) as used
where used.session_id = hold.session_id;

alter table usage_hold set (fillfactor = 80);

-- Of an account those that have lapsed are found without looking at the others.
create index usage_hold_of_account_until on usage_hold (account, until_ms);
drop index usage_hold_of_account;

-- In shards by session, so that sessions of one account wait for each other by chance only. Each row is the sum of its holds exactly; one
-- that is zero is deleted.
create table hold_sum (
  account       text collate "C" not null,
  shard         smallint not null,
  tokens        bigint not null,
  micro_dollars bigint not null,
  primary key (account, shard)
) with (fillfactor = 50);

-- The last character but one of a session's id, which is random.
create function hold_shard(session_id text) returns smallint language sql immutable parallel safe
  as $$ select (ascii(right(session_id, 2)) & 15)::smallint $$;

insert into hold_sum (account, shard, tokens, micro_dollars)
select account, hold_shard(session_id), sum(tokens), sum(micro_dollars) from usage_hold
group by account, hold_shard(session_id) having sum(tokens) <> 0 or sum(micro_dollars) <> 0;

-- By triggers, so that whoever writes a hold changes its sum in the same transaction: the build before this one does not know the sums.
-- Each statement locks the rows of its sums in one order, and after all else that it locks.
create function add_to_hold_sums(accounts text[], shards smallint[], added_tokens bigint[], added_micro_dollars bigint[])
returns void language plpgsql as $$
declare
  has_empty boolean;
begin
  if accounts is null then
    return;
  end if;
  with changed as (
    insert into hold_sum as kept (account, shard, tokens, micro_dollars)
    select account, shard, sum(added.tokens), sum(added.micro_dollars)
    from unnest(accounts, shards, added_tokens, added_micro_dollars) as added (account, shard, tokens, micro_dollars)
    group by account, shard having sum(added.tokens) <> 0 or sum(added.micro_dollars) <> 0
    order by account collate "C", shard
    on conflict (account, shard) do update set
      tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars
    returning tokens, micro_dollars
  ) select bool_or(tokens = 0 and micro_dollars = 0) into has_empty from changed;
  if has_empty then
    delete from hold_sum as kept using unnest(accounts, shards) as touched (account, shard)
    where kept.account = touched.account and kept.shard = touched.shard and kept.tokens = 0 and kept.micro_dollars = 0;
  end if;
end $$;

create function keep_hold_sums() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform add_to_hold_sums(array_agg(account), array_agg(hold_shard(session_id)), array_agg(tokens), array_agg(micro_dollars))
    from now_held;
  elsif tg_op = 'DELETE' then
    perform add_to_hold_sums(array_agg(account), array_agg(hold_shard(session_id)), array_agg(-tokens), array_agg(-micro_dollars))
    from was_held;
  else
    perform add_to_hold_sums(array_agg(account), array_agg(hold_shard(session_id)), array_agg(tokens), array_agg(micro_dollars))
    from (
      select account, session_id, tokens, micro_dollars from now_held
      union all
      select account, session_id, -tokens, -micro_dollars from was_held
    ) as moved;
  end if;
  return null;
end $$;

create trigger usage_hold_inserted after insert on usage_hold
  referencing new table as now_held for each statement execute function keep_hold_sums();
create trigger usage_hold_updated after update on usage_hold
  referencing old table as was_held new table as now_held for each statement execute function keep_hold_sums();
create trigger usage_hold_deleted after delete on usage_hold
  referencing old table as was_held for each statement execute function keep_hold_sums();
