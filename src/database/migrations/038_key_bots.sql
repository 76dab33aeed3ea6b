-- How the callers of a widget key are challenged; null where that is as the installation says.
alter table widget_key add column bots jsonb;
