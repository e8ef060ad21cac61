-- What is searched: the passages of what was said, and one for each memory that was stored. What was said goes with
-- its turn, a memory's with it.

CREATE TABLE passages (
	id       INTEGER PRIMARY KEY AUTOINCREMENT, -- and of its row in passages_fts
	uid      TEXT,                              -- ULID, of one that was said; a memory has its own
	turn     INTEGER REFERENCES turns (id) ON DELETE CASCADE,
	memory   INTEGER REFERENCES memories (id) ON DELETE CASCADE,
	-- whose neighbours: the session's row, for what was imported a negative number, 0 for none
	thread   INTEGER NOT NULL DEFAULT 0,
	position REAL    NOT NULL DEFAULT 0,  -- in the thread
	origin   TEXT    NOT NULL DEFAULT '', -- who said it: user, assistant
	project  TEXT    NOT NULL DEFAULT '',
	personal INTEGER NOT NULL DEFAULT 0,
	created  INTEGER NOT NULL,
	traits   INTEGER NOT NULL DEFAULT 0,  -- what questions may ask for, a bit or two each (memory/embedded, traits)
	length   INTEGER NOT NULL DEFAULT 0,  -- in terms
	given    INTEGER NOT NULL DEFAULT 0,  -- how many sessions it was told to
	used     INTEGER NOT NULL DEFAULT 0,  -- and in how many of these an answer came back to it
	rating   REAL    NOT NULL DEFAULT 0,  -- the mean of the feedback, -1 to 1
	ratings  INTEGER NOT NULL DEFAULT 0,
	content  TEXT    NOT NULL DEFAULT ''  -- '' for a memory's
) STRICT;
CREATE UNIQUE INDEX passages_uid    ON passages (uid) WHERE uid IS NOT NULL;
CREATE UNIQUE INDEX passages_memory ON passages (memory) WHERE memory IS NOT NULL;
CREATE INDEX        passages_turn   ON passages (turn) WHERE turn IS NOT NULL;
CREATE INDEX        passages_thread ON passages (thread, position) WHERE thread <> 0;
CREATE INDEX        passages_created ON passages (created);

-- What was told to which session, and whether an answer of it came back to that. Which passage it was says its own
-- name: it may be a memory's or one that is gone.
CREATE TABLE passages_told (
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	item    TEXT    NOT NULL,            -- uid
	used    INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (session, item)
) STRICT, WITHOUT ROWID;

-- How many passages there are, and how many terms they have together.
CREATE TABLE passages_total (passages INTEGER NOT NULL, terms INTEGER NOT NULL) STRICT;
INSERT INTO passages_total VALUES (0, 0);

-- Rows whose entry in the full-text index is not what it should be.
CREATE TABLE passages_stale (passage INTEGER NOT NULL PRIMARY KEY) STRICT;
CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN
	INSERT OR IGNORE INTO passages_stale VALUES (new.id);
	UPDATE passages_total SET passages = passages + 1, terms = terms + new.length;
END;
CREATE TRIGGER passages_changed AFTER UPDATE OF content, project, personal, length, memory ON passages BEGIN
	INSERT OR IGNORE INTO passages_stale VALUES (new.id);
	UPDATE passages_total SET terms = terms + new.length - old.length;
END;
CREATE TRIGGER passages_gone AFTER DELETE ON passages BEGIN
	INSERT OR IGNORE INTO passages_stale VALUES (old.id);
	UPDATE passages_total SET passages = passages - 1, terms = terms - old.length;
END;

-- The place of an imported memory among others: with key (any text), its neighbours.
ALTER TABLE memories ADD COLUMN position REAL;
CREATE TRIGGER memories_moved AFTER UPDATE OF key, position, created ON memories BEGIN
	INSERT OR IGNORE INTO memories_stale VALUES (new.id);
END;

-- Everything is taken in once more: memories at once, turns down from the newest, beside the conversations.
INSERT OR IGNORE INTO memories_stale SELECT id FROM memories;
-- turn is the newest that was learned from and has no passages yet.
CREATE TABLE passages_backlog (turn INTEGER NOT NULL) STRICT;
INSERT INTO passages_backlog SELECT coalesce(max(id), 0) FROM turns;

-- The index of passages. It holds terms that the store makes of a text (words without endings, identifiers split,
-- pairs of characters for some scripts), so the tokenizer only has to keep them whole; scope holds one for the
-- project, and one where a passage is of any. What is deleted leaves the index at once.
DROP TABLE memories_terms;
DROP TABLE memories_fts;
CREATE VIRTUAL TABLE passages_fts USING fts5 (content, context, scope,
	tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'");
INSERT INTO passages_fts (passages_fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE passages_terms USING fts5vocab (passages_fts, row);
