-- A delivery carries all that it needs: whoever works it off may be configured otherwise than the process that left
-- it. Never a token.
-- hook_command is a JSON array: on_session_end and its arguments; '' beside hook = 1: a version that did not keep it.
ALTER TABLE processes  ADD COLUMN hook_command TEXT    NOT NULL DEFAULT '';
ALTER TABLE processes  ADD COLUMN hook_limit   INTEGER NOT NULL DEFAULT 0;   -- milliseconds
ALTER TABLE deliveries ADD COLUMN hook_command TEXT    NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN hook_limit   INTEGER NOT NULL DEFAULT 0;
-- agent_id is Signet's, as the session had it when it became owed.
ALTER TABLE deliveries ADD COLUMN agent_id     TEXT    NOT NULL DEFAULT '';
