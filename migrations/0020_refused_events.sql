-- Lines of files of events that the database will never take, though its schema is whole, and why. They go with their
-- session; what is of no known session goes with those that its process had turns in.
CREATE TABLE refused_events (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	at      INTEGER NOT NULL, -- when it was refused
	process TEXT    NOT NULL,
	session INTEGER REFERENCES sessions (id) ON DELETE CASCADE,
	line    TEXT    NOT NULL,
	reason  TEXT    NOT NULL
) STRICT;
CREATE INDEX refused_events_session ON refused_events (session);
CREATE INDEX refused_events_process ON refused_events (process);
