-- What the embedded store knows: notes taken from turns, and those that a person or an agent stored.

CREATE TABLE memories (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	uid        TEXT    NOT NULL,              -- ULID: the name that people and agents see
	type       TEXT    NOT NULL,              -- fact, preference, decision, request, …
	project    TEXT    NOT NULL DEFAULT '',   -- where it was said; '' for none
	personal   INTEGER NOT NULL DEFAULT 0,    -- 1: true of the person, whatever the project
	origin     TEXT    NOT NULL,              -- who said it: user, assistant
	source     TEXT    NOT NULL,              -- by which call it came: turn, memory_store, memory add, …
	harness    TEXT    NOT NULL DEFAULT '',
	key        TEXT    NOT NULL DEFAULT '',   -- the Signet key of the session that it came from
	session    INTEGER NOT NULL DEFAULT 0,    -- the same as a row of ours; a plain number
	turn       INTEGER REFERENCES turns (id) ON DELETE CASCADE,
	importance REAL    NOT NULL DEFAULT 0.5,  -- 0 to 1
	rating     REAL    NOT NULL DEFAULT 0,    -- sum of the feedback
	ratings    INTEGER NOT NULL DEFAULT 0,
	created    INTEGER NOT NULL,
	updated    INTEGER NOT NULL,
	digest     TEXT    NOT NULL,              -- of the folded content: the same thing said twice
	tags       TEXT    NOT NULL DEFAULT '',   -- comma-separated
	context    TEXT    NOT NULL DEFAULT '',   -- what it was said about; searched, not shown
	content    TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX memories_uid ON memories (uid);
CREATE INDEX memories_digest     ON memories (digest);
CREATE INDEX memories_created    ON memories (created);
CREATE INDEX memories_turn       ON memories (turn) WHERE turn IS NOT NULL;

-- Digests of what a person had forgotten: never learned again from the same turn.
CREATE TABLE memories_forgotten (
	turn   INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
	digest TEXT    NOT NULL,
	PRIMARY KEY (turn, digest)
) STRICT, WITHOUT ROWID;

-- Rows whose entry in the full-text index is not what it should be; a build without FTS5 leaves them for one that has
-- it.
CREATE TABLE memories_stale (memory INTEGER NOT NULL PRIMARY KEY) STRICT;
CREATE TRIGGER memories_added   AFTER INSERT ON memories BEGIN INSERT OR IGNORE INTO memories_stale VALUES (new.id); END;
CREATE TRIGGER memories_changed AFTER UPDATE OF content, context, tags, project, personal ON memories BEGIN INSERT OR IGNORE INTO memories_stale VALUES (new.id); END;
CREATE TRIGGER memories_gone    AFTER DELETE ON memories BEGIN INSERT OR IGNORE INTO memories_stale VALUES (old.id); END;
