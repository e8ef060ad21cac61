-- Fewer tables: what two or three have kept is kept in one. Each section makes the new table, takes the rows over, and
-- drops the old ones. It is one transaction, so that a program that is killed leaves the old schema or the new. Triggers
-- may be missing: those of a backup are dropped before anything of it is run (Adopt).

-- What a person has had forgotten, or what was pruned: nothing of it comes back. By kind, what is
-- session: an ACP id; turn: a digest of a turn, or of its prompt in its session; memory: the digest of a memory or
-- passage that its turn does not teach again.
CREATE TABLE forgotten (
	kind TEXT NOT NULL,
	what ANY  NOT NULL,
	turn INTEGER REFERENCES turns (id) ON DELETE CASCADE -- of a memory
) STRICT;
INSERT INTO forgotten (kind, what) SELECT 'session', acp_id FROM sessions_forgotten;
INSERT INTO forgotten (kind, what) SELECT 'turn', digest FROM turns_forgotten;
INSERT INTO forgotten (kind, what, turn) SELECT 'memory', digest, turn FROM memories_forgotten;
CREATE UNIQUE INDEX forgotten_what ON forgotten (kind, what) WHERE turn IS NULL;
CREATE UNIQUE INDEX forgotten_turn ON forgotten (turn, what) WHERE turn IS NOT NULL;
DROP TABLE sessions_forgotten;
DROP TABLE turns_forgotten;
DROP TABLE memories_forgotten;

-- How far the index of passages is. By kind, id or n is
-- memory, passage: the id of a row whose entry in the index is not what it should be; passages, terms: how many there
-- are of these; backlog: the newest turn that was learned from and has no passages yet.
CREATE TABLE passages_index (
	kind TEXT    NOT NULL,
	id   INTEGER NOT NULL DEFAULT 0,
	n    INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
INSERT INTO passages_index (kind, id) SELECT 'memory', memory FROM memories_stale;
INSERT INTO passages_index (kind, id) SELECT 'passage', passage FROM passages_stale;
INSERT INTO passages_index (kind, n) SELECT 'passages', passages FROM passages_total;
INSERT INTO passages_index (kind, n) SELECT 'terms', terms FROM passages_total;
INSERT INTO passages_index (kind, n) SELECT 'backlog', turn FROM passages_backlog;
DROP TRIGGER IF EXISTS memories_added;
DROP TRIGGER IF EXISTS memories_changed;
DROP TRIGGER IF EXISTS memories_moved;
DROP TRIGGER IF EXISTS memories_gone;
DROP TRIGGER IF EXISTS passages_added;
DROP TRIGGER IF EXISTS passages_changed;
DROP TRIGGER IF EXISTS passages_gone;
DROP TABLE memories_stale;
DROP TABLE passages_stale;
DROP TABLE passages_total;
DROP TABLE passages_backlog;
CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN
	INSERT OR IGNORE INTO passages_index (kind, id) VALUES ('memory', new.id);
END;
CREATE TRIGGER memories_changed
AFTER UPDATE OF content, context, tags, project, personal, key, position, created ON memories BEGIN
	INSERT OR IGNORE INTO passages_index (kind, id) VALUES ('memory', new.id);
END;
CREATE TRIGGER memories_gone AFTER DELETE ON memories BEGIN
	INSERT OR IGNORE INTO passages_index (kind, id) VALUES ('memory', old.id);
END;
CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN
	INSERT OR IGNORE INTO passages_index (kind, id) VALUES ('passage', new.id);
	UPDATE passages_index SET n = n + iif(kind = 'terms', new.length, 1) WHERE kind IN ('passages', 'terms');
END;
CREATE TRIGGER passages_changed AFTER UPDATE OF content, project, personal, length, memory ON passages BEGIN
	INSERT OR IGNORE INTO passages_index (kind, id) VALUES ('passage', new.id);
	UPDATE passages_index SET n = n + new.length - old.length WHERE kind = 'terms';
END;
CREATE TRIGGER passages_gone AFTER DELETE ON passages BEGIN
	INSERT OR IGNORE INTO passages_index (kind, id) VALUES ('passage', old.id);
	UPDATE passages_index SET n = n - iif(kind = 'terms', old.length, 1) WHERE kind IN ('passages', 'terms');
END;

-- What was noted once, and when it was last. By kind, name and value are
-- told: something that a person need not be told again, or that is so for good; daemon: a Signet path whose daemon has
-- answered, without which nothing is owed to one, with its url and version; agent: one that was asked for something,
-- with what it said of itself.
CREATE TABLE noted (
	kind  TEXT    NOT NULL,
	name  TEXT    NOT NULL,
	at    INTEGER NOT NULL,
	value TEXT    NOT NULL DEFAULT '', -- JSON
	PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO noted (kind, name, at) SELECT 'told', name, at FROM notices;
INSERT INTO noted SELECT 'daemon', signet_path, at, json_object('url', url, 'version', version) FROM daemon_seen;
INSERT INTO noted SELECT 'agent', agent, at, json_object('title', title, 'version', version,
	'commands', json(commands), 'reopens', json(CASE reopens WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE 'null' END))
	FROM agents_seen;
DROP TABLE notices;
DROP TABLE daemon_seen;
DROP TABLE agents_seen;

-- A key that a session-start was sent with before the harness has named its session is a row of session_keys without
-- one: if its process dies before that, it is the daemon's live session until it gets a session-end.
DROP TRIGGER IF EXISTS session_keys_started;
DROP TRIGGER IF EXISTS delegations_session_gone;
ALTER TABLE session_keys RENAME TO session_keys_before;
CREATE TABLE session_keys (
	key      TEXT    NOT NULL PRIMARY KEY,
	session  INTEGER REFERENCES sessions (id) ON DELETE CASCADE, -- NULL: it has no row yet
	n        INTEGER NOT NULL DEFAULT 0,
	created  INTEGER NOT NULL,
	started  INTEGER NOT NULL DEFAULT 0,  -- a session-start was sent with it, whatever came back
	used     INTEGER NOT NULL DEFAULT 0,  -- its context left for the harness
	ended    INTEGER NOT NULL DEFAULT 0,  -- a session-end was sent with it
	process  TEXT    NOT NULL DEFAULT '', -- without a session: that sent the session-start,
	agent_id TEXT    NOT NULL DEFAULT ''  -- and for which of Signet's agents
) STRICT, WITHOUT ROWID;
INSERT INTO session_keys (key, session, n, created, started, used, ended)
	SELECT key, session, n, created, started, used, ended FROM session_keys_before;
INSERT INTO session_keys (key, created, started, process, agent_id)
	SELECT key, started, started, process, agent_id FROM started_keys
	WHERE true ON CONFLICT (key) DO UPDATE SET started = excluded.started;
DROP TABLE session_keys_before;
DROP TABLE started_keys;
CREATE INDEX session_keys_session ON session_keys (session, n);
CREATE INDEX session_keys_unused  ON session_keys (started) WHERE started > 0 AND used = 0 AND ended = 0;

-- A context that was fetched and not used yet, for the next process, is the session's.
ALTER TABLE sessions ADD COLUMN context_key TEXT    NOT NULL DEFAULT ''; -- that it was fetched under
ALTER TABLE sessions ADD COLUMN context_at  INTEGER NOT NULL DEFAULT 0;  -- when; 0: there is none
ALTER TABLE sessions ADD COLUMN context     BLOB;
UPDATE sessions SET context_key = c.key, context_at = c.at, context = c.payload
	FROM stored_contexts c WHERE c.session = sessions.id;
CREATE INDEX sessions_context ON sessions (context_at) WHERE context_at > 0;
DROP TABLE stored_contexts;

-- A delegation's request, what its runner notes and its result are JSON: they are read and written whole.
DROP TRIGGER IF EXISTS delegations_turn_gone;
ALTER TABLE delegations RENAME TO delegations_before;
CREATE TABLE delegations (
	id        TEXT    NOT NULL PRIMARY KEY, -- ULID
	caller    TEXT    NOT NULL,             -- the Signet key of the session that asked; '': a person
	turn      INTEGER NOT NULL DEFAULT 0,   -- the caller's turn that asked; a plain number
	parent    TEXT    NOT NULL DEFAULT '',  -- the delegation inside which it was asked
	root      TEXT    NOT NULL,             -- the caller at the top of the tree
	depth     INTEGER NOT NULL,
	key       TEXT    NOT NULL,             -- what makes two requests one
	agent     TEXT    NOT NULL,
	state     TEXT    NOT NULL,
	runner    TEXT    NOT NULL DEFAULT '',  -- the process that runs it, by its lock
	pid       INTEGER NOT NULL DEFAULT 0,   -- the runner's
	cancel    TEXT    NOT NULL DEFAULT '',  -- why it is to end
	acp_id    TEXT    NOT NULL DEFAULT '',  -- the child's session, as its harness calls it
	folder    TEXT    NOT NULL DEFAULT '',  -- where the child works or, at the end, what is handed back
	tree      TEXT    NOT NULL DEFAULT '',  -- that a follow-up would go on in
	continues TEXT    NOT NULL DEFAULT '',  -- the delegation that this one goes on with
	created   INTEGER NOT NULL,
	started   INTEGER NOT NULL DEFAULT 0,
	ended     INTEGER NOT NULL DEFAULT 0,
	request   TEXT    NOT NULL,              -- JSON: Caller and Request; the task is without secrets
	work      TEXT    NOT NULL DEFAULT '{}', -- JSON: Run
	result    TEXT    NOT NULL DEFAULT '{}', -- JSON: Result
	question  TEXT    NOT NULL DEFAULT '',   -- JSON: what the child wants to be allowed, with the answer; '': nothing
	words     TEXT    NOT NULL DEFAULT '[]'  -- JSON: what the child is still to be told; deaf: nothing any more
) STRICT, WITHOUT ROWID;
INSERT INTO delegations SELECT id, caller, turn, parent, root, depth, key, agent, state, runner, pid, cancel, acp_id,
	folder, tree, continues, created, started, ended,
	json_object('process', process, 'harness', harness, 'cwd', cwd, 'project', project, 'kind', kind, 'task', task,
		'scope', scope, 'kept', kept, 'mode', mode, 'budget', json(budget), 'detach', json(iif(detach, 'true', 'false'))),
	json_object('progress', progress, 'usage', json_object('turns', turns, 'tokens', tokens, 'cost', cost,
		'currency', currency)),
	json_object('stop', stop, 'reason', reason, 'answer', answer, 'branch', branch, 'paths', json(paths),
		'refused', json(refused), 'verdict', verdict, 'note', note),
	iif(question = '' OR permitted IS NULL, question,
		json_set(question, '$.allowed', json(iif(permitted, 'true', 'false')))), '[]'
	FROM delegations_before;
DROP TABLE delegations_before;
CREATE UNIQUE INDEX delegations_once ON delegations (caller, key);
CREATE INDEX delegations_root      ON delegations (root);
CREATE INDEX delegations_parent    ON delegations (parent) WHERE parent <> '';
CREATE INDEX delegations_open      ON delegations (state) WHERE ended = 0;
CREATE INDEX delegations_acp       ON delegations (acp_id) WHERE acp_id <> '';
CREATE INDEX delegations_continues ON delegations (continues) WHERE continues <> '';
-- Its words go with the turn and the sessions in which they were said. The row stays: who was asked, and how it ended.
CREATE TRIGGER delegations_turn_gone BEFORE DELETE ON turns BEGIN
	UPDATE delegations SET request = json_remove(request, '$.task', '$.scope', '$.kept'),
		work = json_remove(work, '$.progress', '$.last'), question = '', words = '[]',
		result = json_object('stop', result ->> 'stop', 'branch', result ->> 'branch', 'verdict', result ->> 'verdict')
	WHERE turn = old.id;
END;
CREATE TRIGGER delegations_session_gone BEFORE DELETE ON sessions BEGIN
	UPDATE delegations SET request = json_remove(request, '$.task', '$.scope', '$.kept'),
		work = json_remove(work, '$.progress', '$.last'), question = '', words = '[]',
		result = json_object('stop', result ->> 'stop', 'branch', result ->> 'branch', 'verdict', result ->> 'verdict')
	WHERE acp_id = old.acp_id AND acp_id <> '' OR caller IN (SELECT key FROM session_keys WHERE session = old.id);
	DELETE FROM messages WHERE session IN (SELECT key FROM session_keys WHERE session = old.id);
END;

-- A debt is a row. One process at a time delivers, under a lock of the system's, so that none is leased to anybody, and
-- what a delivery writes into a file has the debt's id for its name.
ALTER TABLE deliveries RENAME TO debts;
ALTER TABLE debts DROP COLUMN lease;
ALTER TABLE debts DROP COLUMN leases;
ALTER TABLE debts DROP COLUMN leased_until;
ALTER TABLE debts DROP COLUMN file;
-- waits: 1: it is left for later on purpose
ALTER TABLE debts ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
DROP INDEX deliveries_open;
DROP INDEX deliveries_due;
DROP INDEX deliveries_session;
CREATE UNIQUE INDEX debts_open ON debts (key, kind) WHERE done = 0 AND payload = '';
CREATE INDEX debts_due     ON debts (due) WHERE done = 0;
CREATE INDEX debts_session ON debts (session);

-- After how many milliseconds a search of memory was cut off whose finds went in; 0: it was not.
ALTER TABLE injections ADD COLUMN cut_ms INTEGER NOT NULL DEFAULT 0;

-- What happens is written when it happens, and not read from files first: processes number their events, and what
-- a number stands for is said by the rows that it is of.

-- The number up to which the process's events are here. Those of earlier versions, which wrote files and may still run,
-- are numbered by file and position.
ALTER TABLE processes ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
UPDATE processes SET written = f.file << 40 | f.position FROM event_files f WHERE f.process = processes.id;
DROP TABLE event_files;

-- Which processes hold a session open now. More than one may (acpx 0.7.0). Without a row here what a process says of a
-- session is of nobody: it was forgotten.
ALTER TABLE attachments RENAME TO attachments_before;
CREATE TABLE attachments (
	process TEXT    NOT NULL,
	n       INTEGER NOT NULL, -- the session's number in the events of the process
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	closed  INTEGER NOT NULL DEFAULT 0, -- 1: the client has closed it there, or the process has ended
	PRIMARY KEY (process, n)
) STRICT, WITHOUT ROWID;
INSERT INTO attachments (process, n, session, closed)
	SELECT process, n, session, NOT EXISTS (SELECT 1 FROM attachments_before a
		WHERE a.process = e.process AND a.session = e.session) FROM event_sessions e;
INSERT INTO attachments (process, n, session)
	SELECT process, -session, session FROM attachments_before a WHERE NOT EXISTS (SELECT 1 FROM event_sessions e
		WHERE e.process = a.process AND e.session = a.session);
DROP TABLE attachments_before;
DROP TABLE event_sessions;
CREATE INDEX attachments_session ON attachments (session);

ALTER TABLE turns ADD COLUMN n INTEGER NOT NULL DEFAULT 0;        -- its number in the events of its process; 0: it has none
ALTER TABLE turns ADD COLUMN head INTEGER NOT NULL DEFAULT 0;     -- bytes of the answer before what was left out of its middle; 0: nothing was
ALTER TABLE turns ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0; -- bytes that were
UPDATE turns SET n = e.n, head = e.head, left_out = e.left_out FROM event_turns e WHERE e.turn = turns.id;
DROP TABLE event_turns;
DROP INDEX turns_process;
CREATE INDEX turns_process ON turns (process, n);

-- What the database will never take is an event of its own kind, with its line and the reason.
INSERT INTO events (at, kind, process, session, data)
	SELECT at, 'refused', process, session, json_object('line', line, 'reason', reason) FROM refused_events ORDER BY id;
DROP TABLE refused_events;
