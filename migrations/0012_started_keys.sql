-- Session-starts that were sent before the harness had named their session; when it does, the key gets its row in session_keys. One whose process died
-- before that is the daemon's live session until it gets a session-end.
CREATE TABLE started_keys (
	key      TEXT    NOT NULL PRIMARY KEY,
	process  TEXT    NOT NULL, -- that sent it
	agent_id TEXT    NOT NULL,
	started  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER session_keys_started AFTER INSERT ON session_keys WHEN EXISTS (SELECT 1 FROM started_keys WHERE key = NEW.key) BEGIN
	UPDATE session_keys SET started = (SELECT started FROM started_keys WHERE key = NEW.key) WHERE key = NEW.key;
	DELETE FROM started_keys WHERE key = NEW.key;
END;
