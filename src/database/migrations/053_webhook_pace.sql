-- Up to when an endpoint has used the pace at which it is sent what it missed while it was away, on all nodes together; null if it never missed anything.
alter table webhook_endpoint add column paced_until_ms bigint;
-- Whether the tenants file named the endpoint at the last merge, so that it cannot be deleted elsewhere.
alter table webhook_endpoint add column in_file boolean not null default false;
