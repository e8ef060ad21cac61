-- Every key that a hook was sent with is ended, also one that was used, so that its session is not among the daemon's
-- live ones for ever. Those from before are taken to be ended, unless somebody may hold them: claims of 0.58.1 end after
-- four hours.
UPDATE session_keys SET ended = started WHERE started > 0 AND used > 0 AND ended = 0
	AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.session = session_keys.session AND a.closed = 0);
DROP INDEX session_keys_unused;
CREATE INDEX session_keys_open ON session_keys (started) WHERE started > 0 AND ended = 0;

-- What the daemon makes of what it has taken: a job for each part.
ALTER TABLE debts ADD COLUMN jobs TEXT NOT NULL DEFAULT '[]';   -- JSON: Job
ALTER TABLE debts ADD COLUMN ask INTEGER NOT NULL DEFAULT 0;    -- when to ask what became of them; 0: not any more
CREATE INDEX debts_ask ON debts (ask) WHERE ask > 0;

-- At which daemons a key is held, by address: it is freed at each. Those from before: at the one that is configured.
ALTER TABLE session_keys ADD COLUMN held TEXT NOT NULL DEFAULT '[]'; -- JSON: addresses; '': where the configured one is
UPDATE session_keys SET held = '[""]' WHERE started > 0 AND ended = 0;

-- How long a hook may run is no setting any more.
ALTER TABLE processes DROP COLUMN hook_limit;
ALTER TABLE debts DROP COLUMN hook_limit;

-- What a session's own agent has noted of it is a memory with the source 'notes'. note is JSON: the turns that it is of,
-- and files. replaced_by is the note that says that it is no longer so: it stays, and is not told.
ALTER TABLE memories ADD COLUMN note        TEXT NOT NULL DEFAULT '{}';
ALTER TABLE memories ADD COLUMN replaced_by TEXT NOT NULL DEFAULT '';
CREATE INDEX memories_notes    ON memories (session, id) WHERE source = 'notes';
CREATE INDEX memories_replaced ON memories (replaced_by) WHERE replaced_by <> '';
CREATE TRIGGER memories_returned AFTER DELETE ON memories BEGIN
	UPDATE memories SET replaced_by = '' WHERE replaced_by = old.uid AND replaced_by <> '';
END;

-- Each time that a session's agent was asked for notes of it.
CREATE TABLE notings (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	session  INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	turn     INTEGER NOT NULL,            -- the last turn that it was given; a plain number
	began    INTEGER NOT NULL,
	ended    INTEGER NOT NULL DEFAULT 0,  -- 0: it goes on, or its process died
	notes    INTEGER NOT NULL DEFAULT 0,  -- how many were kept
	error    TEXT    NOT NULL DEFAULT '', -- why there is no answer
	tokens   INTEGER,                     -- NULL, and of cost: not reported
	cost     REAL,
	currency TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX notings_session ON notings (session);
CREATE INDEX notings_began   ON notings (began);
