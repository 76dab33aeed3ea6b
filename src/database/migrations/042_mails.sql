-- Whom a budget is told to by mail, as a list of addresses; null for whoever is told by default.
alter table budget add column tell jsonb;
