-- What a session's creator handed on for its tools alone, sealed (base64), and which definition its agent had; null where there is none.
alter table session_setup add column sealed_context text, add column agent_version text;
