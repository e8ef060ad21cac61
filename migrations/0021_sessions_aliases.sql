-- Other names of a session: some harnesses list a session under another id than they gave it, and load it by both.
CREATE TABLE session_aliases (
	acp_id  TEXT    NOT NULL,
	harness TEXT    NOT NULL,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	PRIMARY KEY (acp_id, harness)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_aliases_session ON session_aliases (session);

-- A replay may show blocks that another session was given: they are looked up by their ids.
CREATE INDEX injections_block ON injections (block_id);
