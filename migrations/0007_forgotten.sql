-- Sessions that a person has had forgotten, or that were pruned: what a harness still has of them is not taken in
-- again.
CREATE TABLE sessions_forgotten (
	acp_id TEXT PRIMARY KEY
) WITHOUT ROWID;
