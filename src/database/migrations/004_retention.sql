-- Totals of days that are over are found by their day.
create index usage_total_day on usage_total (day);
