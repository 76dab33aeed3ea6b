-- Of an hour that is over, the sums of its processes are added up to one row with the shard 0. This finds those that are not yet.
create index usage_hour_by_process on usage_hour (hour_ms) where shard <> 0;
