-- Which files a turn edited, read or named (kind: 2, 1, 0), by their paths from the project's top. memory/embedded
-- makes the rows of a turn when it learns from it.
CREATE TABLE files (
	turn    INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	project TEXT    NOT NULL,
	path    TEXT    NOT NULL,
	kind    INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (turn, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_project ON files (project, turn);
CREATE INDEX files_session ON files (session);

-- Turns that were learned from have no files yet: they are taken in once more, down from the newest.
UPDATE passages_index SET n = (SELECT coalesce(max(id), 0) FROM turns) WHERE kind = 'backlog';

-- What blocks told a session, and whether it was of use there. kind is file, words or rule; state is 0: not seen to be
-- used, 1: used, 2: a rule that the user had to say again.
CREATE TABLE uses (
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	item    TEXT    NOT NULL, -- as injections.items has it
	kind    TEXT    NOT NULL,
	state   INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (session, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_item ON uses (item);
