-- What outlives a process: sessions, their Signet keys, what was said, what was inserted, what is owed.
--
-- Times are unix milliseconds, 0 for "not yet". Large texts stand last in a row, so that reading the
-- columns before them touches no overflow pages. Ids are never used again (AUTOINCREMENT), since other
-- rows and logs name them after the row is gone.

-- A process is alive as long as it holds the lock of <live folder>/<id>.lock, whatever its row says.
CREATE TABLE processes (
	id          TEXT    NOT NULL PRIMARY KEY, -- ULID
	kind        TEXT    NOT NULL,             -- relay, worker
	harness     TEXT    NOT NULL,             -- the name it was started by
	version     TEXT    NOT NULL,             -- ours
	pid         INTEGER NOT NULL,             -- for people; means nothing across containers
	signet_path TEXT    NOT NULL,
	memory      TEXT    NOT NULL,             -- auto, daemon, embedded, off: decides what its sessions owe
	hook        INTEGER NOT NULL,             -- 1: on_session_end is configured
	url         TEXT    NOT NULL DEFAULT '',  -- the daemon's, where a person named one
	started     INTEGER NOT NULL,
	ended       INTEGER NOT NULL DEFAULT 0,
	reason      TEXT    NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX processes_ended ON processes (ended);

CREATE TABLE sessions (
	id             INTEGER PRIMARY KEY AUTOINCREMENT,
	harness        TEXT    NOT NULL,
	acp_id         TEXT    NOT NULL,
	key            TEXT    NOT NULL,            -- the current Signet key, last of session_keys
	record         TEXT    NOT NULL DEFAULT '', -- acpxRecordId
	cwd            TEXT    NOT NULL DEFAULT '',
	project        TEXT    NOT NULL DEFAULT '',
	agent_id       TEXT    NOT NULL DEFAULT '',
	client         TEXT    NOT NULL DEFAULT '',
	client_version TEXT    NOT NULL DEFAULT '',
	agent          TEXT    NOT NULL DEFAULT '',
	agent_version  TEXT    NOT NULL DEFAULT '',
	parent_key     TEXT    NOT NULL DEFAULT '',
	fork_of        INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
	continue_of    INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
	state          TEXT    NOT NULL,
	claim          INTEGER NOT NULL DEFAULT 0,  -- the injection in flight
	claim_by       TEXT    NOT NULL DEFAULT '', -- the process that sent it
	claim_from     TEXT    NOT NULL DEFAULT '', -- the state that it was sent in
	started        INTEGER NOT NULL,
	last_active    INTEGER NOT NULL,
	replaced       INTEGER NOT NULL DEFAULT 0   -- when the harness gave the same id to a newer session
) STRICT;
CREATE UNIQUE INDEX sessions_name ON sessions (acp_id, harness) WHERE replaced = 0;
CREATE INDEX sessions_record   ON sessions (record) WHERE record <> '';
CREATE INDEX sessions_key      ON sessions (key);
CREATE INDEX sessions_active   ON sessions (last_active);
CREATE INDEX sessions_fork     ON sessions (fork_of) WHERE fork_of IS NOT NULL;
CREATE INDEX sessions_continue ON sessions (continue_of) WHERE continue_of IS NOT NULL;
CREATE INDEX sessions_claimed  ON sessions (claim_by) WHERE claim_by <> '';

-- Which processes hold a session open now. More than one may (acpx 0.7.0).
CREATE TABLE attachments (
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	process TEXT    NOT NULL,
	PRIMARY KEY (session, process)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachments_process ON attachments (process);

-- A session's sequence of Signet keys. A key belongs to one session; it moves to the one that continues it.
CREATE TABLE session_keys (
	key     TEXT    NOT NULL PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	n       INTEGER NOT NULL,
	created INTEGER NOT NULL,
	started INTEGER NOT NULL DEFAULT 0, -- a session-start was sent with it, whatever came back
	used    INTEGER NOT NULL DEFAULT 0, -- its context left for the harness
	ended   INTEGER NOT NULL DEFAULT 0  -- a session-end was sent with it
) STRICT, WITHOUT ROWID;
CREATE INDEX session_keys_session ON session_keys (session, n);
CREATE INDEX session_keys_unused  ON session_keys (started) WHERE started > 0 AND used = 0 AND ended = 0;

-- A context that was fetched and not used yet, for the next process.
CREATE TABLE stored_contexts (
	session INTEGER NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	key     TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	payload BLOB    NOT NULL
) STRICT;

-- The ledger: what was inserted, word for word.
CREATE TABLE injections (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	session  INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	key      TEXT    NOT NULL,
	kind     TEXT    NOT NULL,
	block_id TEXT    NOT NULL,
	source   TEXT    NOT NULL,
	bytes    INTEGER NOT NULL,
	fetch_ms INTEGER NOT NULL,
	held_ms  INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	outcome  TEXT    NOT NULL, -- in flight, kept, refused, doubt
	items    TEXT    NOT NULL, -- JSON array of item ids
	text     TEXT    NOT NULL
) STRICT;
CREATE INDEX injections_session ON injections (session);

CREATE TABLE turns (
	id              INTEGER PRIMARY KEY AUTOINCREMENT,
	session         INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	key             TEXT    NOT NULL, -- the session's key when it was said: the daemon knows it by that
	process         TEXT    NOT NULL,
	started         INTEGER NOT NULL,
	ended           INTEGER NOT NULL DEFAULT 0,
	stop            TEXT    NOT NULL DEFAULT '', -- ACP's stopReason; '' with ended: it died, or an error (code)
	code            INTEGER NOT NULL DEFAULT 0,  -- JSON-RPC error code
	truncated       INTEGER NOT NULL DEFAULT 0,
	learned         INTEGER NOT NULL DEFAULT 0,  -- the embedded store's: 1 once it has taken the turn in; writing the turn sets it back
	daemon_delivery INTEGER NOT NULL DEFAULT 0,  -- the delivery that took the turn there; a plain number
	hook_delivery   INTEGER NOT NULL DEFAULT 0,
	tools           TEXT    NOT NULL DEFAULT '[]', -- JSON array of {title, kind, status}
	user            TEXT    NOT NULL,              -- the person's own words, never the wire's
	assistant       TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX turns_session   ON turns (session);
CREATE INDEX turns_key       ON turns (key);
CREATE INDEX turns_process   ON turns (process);
CREATE INDEX turns_started   ON turns (started);
CREATE INDEX turns_open      ON turns (session) WHERE ended = 0;
CREATE INDEX turns_unlearned ON turns (id) WHERE learned = 0 AND ended > 0;

-- What is owed after a session: at most one open row (done = 0) a key and kind, besides rows with a payload.
CREATE TABLE deliveries (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	session      INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	key          TEXT    NOT NULL,
	kind         TEXT    NOT NULL, -- daemon, hook, compaction
	reason       TEXT    NOT NULL, -- why the process ended
	url          TEXT    NOT NULL DEFAULT '', -- the daemon's, where a person named one
	state        TEXT    NOT NULL, -- owed, unknown, delivered, dropped, dead
	created      INTEGER NOT NULL,
	owed         INTEGER NOT NULL, -- when it last became owed; the 14 days run from here
	due          INTEGER NOT NULL,
	done         INTEGER NOT NULL DEFAULT 0,
	attempts     INTEGER NOT NULL DEFAULT 0,
	failures     INTEGER NOT NULL DEFAULT 0,  -- in a row: the back-off
	unanswered   INTEGER NOT NULL DEFAULT 0,
	parts        INTEGER NOT NULL DEFAULT 0,  -- parts of a long transcript that were answered
	lease        TEXT    NOT NULL DEFAULT '', -- the worker's process id
	leases       INTEGER NOT NULL DEFAULT 0,  -- how many there were: with lease, the name of one
	leased_until INTEGER NOT NULL DEFAULT 0,
	again        INTEGER NOT NULL DEFAULT 0,  -- 1: became owed anew while it was leased
	posted       INTEGER NOT NULL DEFAULT 0,  -- a post is on its way since
	first_turn   INTEGER NOT NULL DEFAULT 0,
	last_turn    INTEGER NOT NULL DEFAULT 0,
	turns        INTEGER NOT NULL DEFAULT 0,
	file         TEXT    NOT NULL DEFAULT '', -- the transcript file while it exists
	reply        TEXT    NOT NULL DEFAULT '',
	error        TEXT    NOT NULL DEFAULT '',
	payload      TEXT    NOT NULL DEFAULT ''  -- what a kind needs that is in no turn
) STRICT;
CREATE UNIQUE INDEX deliveries_open ON deliveries (key, kind) WHERE done = 0 AND payload = '';
CREATE INDEX deliveries_due     ON deliveries (due) WHERE done = 0;
CREATE INDEX deliveries_session ON deliveries (session);

-- When a daemon last answered for a Signet path: without one nothing is owed to it.
CREATE TABLE daemon_seen (
	signet_path TEXT    NOT NULL PRIMARY KEY,
	url         TEXT    NOT NULL,
	version     TEXT    NOT NULL,
	at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a person was told once and need not be told again.
CREATE TABLE notices (
	name TEXT    NOT NULL PRIMARY KEY,
	at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
