-- Conversations that a person or an agent has handed to another agent: its next session in that folder goes on from
-- it, once.
CREATE TABLE handoffs (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	session  INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, -- that is to be continued
	agent    TEXT    NOT NULL,                                           -- by whom: a name, in lower case
	place    TEXT    NOT NULL,                                           -- where: a project, or a folder of none
	at       INTEGER NOT NULL,
	taken_by INTEGER REFERENCES sessions (id) ON DELETE CASCADE,          -- NULL: nobody yet
	taken    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX handoffs_session ON handoffs (session);
CREATE INDEX handoffs_open    ON handoffs (place) WHERE taken_by IS NULL;
CREATE INDEX handoffs_taken   ON handoffs (taken_by) WHERE taken_by IS NOT NULL;
