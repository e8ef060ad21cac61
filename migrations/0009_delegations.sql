-- What agents asked of each other. A row stands before anybody runs, and is run at most once (state, runner).
CREATE TABLE delegations (
	id       TEXT    NOT NULL PRIMARY KEY, -- ULID
	caller   TEXT    NOT NULL,             -- the Signet key of the session that asked; '': a person
	process  TEXT    NOT NULL,             -- whose end is the caller's: a process, by its lock
	harness  TEXT    NOT NULL,             -- the caller's
	turn     INTEGER NOT NULL DEFAULT 0,   -- the caller's turn that asked; a plain number
	parent   TEXT    NOT NULL DEFAULT '',  -- the delegation inside which it was asked
	root     TEXT    NOT NULL,             -- the caller at the top of the tree
	depth    INTEGER NOT NULL,
	key      TEXT    NOT NULL,             -- what makes two requests one
	agent    TEXT    NOT NULL,
	mode     TEXT    NOT NULL,             -- read, edit
	kind     TEXT    NOT NULL,             -- of work, as scores are kept
	cwd      TEXT    NOT NULL,
	project  TEXT    NOT NULL,
	detach   INTEGER NOT NULL,
	budget   TEXT    NOT NULL,             -- JSON
	state    TEXT    NOT NULL,
	runner   TEXT    NOT NULL DEFAULT '',  -- the process that runs it, by its lock
	pid      INTEGER NOT NULL DEFAULT 0,   -- the runner's
	cancel   TEXT    NOT NULL DEFAULT '',  -- why it is to end
	acp_id   TEXT    NOT NULL DEFAULT '',  -- the child's session, as its harness calls it
	folder   TEXT    NOT NULL DEFAULT '',  -- where the child works
	branch   TEXT    NOT NULL DEFAULT '',  -- what edit hands back
	progress TEXT    NOT NULL DEFAULT '',
	stop     TEXT    NOT NULL DEFAULT '',  -- ACP's stopReason
	reason   TEXT    NOT NULL DEFAULT '',  -- why it ended as it did
	turns    INTEGER NOT NULL DEFAULT 0,
	tokens   INTEGER,                      -- NULL: nobody reported any
	cost     REAL,
	currency TEXT    NOT NULL DEFAULT '',
	paths    TEXT    NOT NULL DEFAULT '[]', -- JSON: what was changed
	refused  TEXT    NOT NULL DEFAULT '[]', -- JSON: what was asked for and not allowed
	verdict  REAL,                          -- of who asked: -1 to 1
	note     TEXT    NOT NULL DEFAULT '',
	created  INTEGER NOT NULL,
	started  INTEGER NOT NULL DEFAULT 0,
	ended    INTEGER NOT NULL DEFAULT 0,
	scope    TEXT    NOT NULL,
	kept     TEXT    NOT NULL,
	task     TEXT    NOT NULL,              -- without secrets; the runner is told the words themselves
	answer   TEXT    NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX delegations_once ON delegations (caller, key);
CREATE INDEX delegations_root   ON delegations (root);
CREATE INDEX delegations_parent ON delegations (parent) WHERE parent <> '';
CREATE INDEX delegations_open   ON delegations (state) WHERE ended = 0;
CREATE INDEX delegations_acp    ON delegations (acp_id) WHERE acp_id <> '';

-- What agents said of themselves when they were last asked for something.
CREATE TABLE agents_seen (
	agent    TEXT    NOT NULL PRIMARY KEY,
	title    TEXT    NOT NULL,
	version  TEXT    NOT NULL,
	commands TEXT    NOT NULL, -- JSON: names
	at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What one agent left for another, where no daemon carries it.
CREATE TABLE messages (
	id      TEXT    NOT NULL PRIMARY KEY, -- ULID
	agent   TEXT    NOT NULL,             -- to whom
	sender  TEXT    NOT NULL,             -- an agent; '': a person
	session TEXT    NOT NULL,             -- the sender's Signet key
	project TEXT    NOT NULL,
	created INTEGER NOT NULL,
	read    INTEGER NOT NULL DEFAULT 0,
	message TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_unread ON messages (agent) WHERE read = 0;
