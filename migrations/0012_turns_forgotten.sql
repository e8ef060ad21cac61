-- Digests of turns that a person has had forgotten, in whole or in part, or that were pruned: a copy of one, as a
-- branch of its conversation has it, is not taken in. Beside them digests of their prompts under the ACP id of their
-- session.
CREATE TABLE turns_forgotten (
	digest BLOB PRIMARY KEY
) WITHOUT ROWID;
