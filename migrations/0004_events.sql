-- What happened in sessions, as the processes' files of events told it (docs/events.md), and how far those files are
-- folded in.

-- How far a process's file of events is folded in: all before position, of the file of that number. Written in the
-- transaction that folds, so that each event counts once, whoever folds it.
CREATE TABLE event_files (
	process  TEXT    NOT NULL PRIMARY KEY,
	file     INTEGER NOT NULL,
	position INTEGER NOT NULL,
	at       INTEGER NOT NULL -- when
) STRICT, WITHOUT ROWID;

-- What the numbers in a process's file stand for. Without a row here what the file says of a number is of nobody: it
-- was forgotten.
CREATE TABLE event_sessions (
	process TEXT    NOT NULL,
	n       INTEGER NOT NULL,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	PRIMARY KEY (process, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_sessions_session ON event_sessions (session);

CREATE TABLE event_turns (
	process  TEXT    NOT NULL,
	n        INTEGER NOT NULL,
	turn     INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
	head     INTEGER NOT NULL DEFAULT 0, -- bytes of the answer before what was left out of its middle; 0: nothing was
	left_out INTEGER NOT NULL DEFAULT 0, -- bytes that were
	PRIMARY KEY (process, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_turns_turn ON event_turns (turn);

-- One row an event, without what was said: that stands in turns. Kinds and the fields of data are documented with a
-- version; an unknown kind is a newer version's.
CREATE TABLE events (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	at      INTEGER NOT NULL,
	kind    TEXT    NOT NULL,
	process TEXT    NOT NULL,
	session INTEGER REFERENCES sessions (id) ON DELETE CASCADE, -- NULL: of the process
	turn    INTEGER REFERENCES turns (id) ON DELETE CASCADE,    -- NULL: of no turn
	data    TEXT    NOT NULL                                    -- JSON object
) STRICT;
CREATE INDEX events_session ON events (session, at);
CREATE INDEX events_turn    ON events (turn) WHERE turn IS NOT NULL;
CREATE INDEX events_at      ON events (at);

-- What was used, as far as somebody reported it: NULL is not reported, never zero. A turn's last row of a reporter
-- counts.
CREATE TABLE usage (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	session       INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	turn          INTEGER REFERENCES turns (id) ON DELETE CASCADE,
	at            INTEGER NOT NULL,
	reporter      TEXT    NOT NULL, -- update: usage_update; result: a prompt's result; quota: gemini's _meta.quota
	input         INTEGER,          -- tokens
	output        INTEGER,
	cached_read   INTEGER,
	cached_write  INTEGER,
	thought       INTEGER,
	total         INTEGER,
	context_used  INTEGER,          -- of the model's window
	context_size  INTEGER,
	cost          REAL,             -- of the session so far, in currency
	currency      TEXT    NOT NULL DEFAULT '',
	raw           TEXT    NOT NULL  -- JSON, as it was reported
) STRICT;
CREATE INDEX usage_session ON usage (session, id);
CREATE INDEX usage_turn    ON usage (turn) WHERE turn IS NOT NULL;
CREATE INDEX usage_at      ON usage (at);
