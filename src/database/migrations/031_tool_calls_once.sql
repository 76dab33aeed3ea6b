-- A request to a tool is sent once: what it would say again after its node died is kept nowhere.
alter table tool_call drop column repeatable;
