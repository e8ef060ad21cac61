-- What was asked of another agent, and what it answered, goes with the turn and the sessions in which that was said;
-- the row stays, for how often an agent was asked and how that ended.
CREATE TRIGGER delegations_turn_gone BEFORE DELETE ON turns BEGIN
	UPDATE delegations SET task = '', scope = '', kept = '', answer = '', progress = '', reason = '', note = '', paths = '[]', refused = '[]'
	WHERE turn = old.id;
END;
CREATE TRIGGER delegations_session_gone BEFORE DELETE ON sessions BEGIN
	UPDATE delegations SET task = '', scope = '', kept = '', answer = '', progress = '', reason = '', note = '', paths = '[]', refused = '[]'
	WHERE acp_id = old.acp_id AND acp_id <> '' OR caller IN (SELECT key FROM session_keys WHERE session = old.id);
	DELETE FROM messages WHERE session IN (SELECT key FROM session_keys WHERE session = old.id);
END;
