-- What is known of an address that logs in (docs/contract.md, section 6.2), by its keyed hash.
create table login_address (
  subject         text collate "C" primary key,
  -- The last login; null where there was none.
  logged_in_at_ms bigint,
  -- When an operator last lifted what holds for it.
  lifted_at_ms    bigint
);
