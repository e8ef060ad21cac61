-- A delivery carries all that it needs: whoever works it off may be configured otherwise than the process that left it. Never a token.
ALTER TABLE processes  ADD COLUMN hook_command TEXT    NOT NULL DEFAULT '';  -- JSON array: on_session_end and its arguments; '' with hook: a version that did not keep it
ALTER TABLE processes  ADD COLUMN hook_limit   INTEGER NOT NULL DEFAULT 0;   -- milliseconds
ALTER TABLE deliveries ADD COLUMN hook_command TEXT    NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN hook_limit   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN agent_id     TEXT    NOT NULL DEFAULT '';  -- Signet's, as the session had it when it became owed
