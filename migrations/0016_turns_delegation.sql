-- The delegation in which a turn's prompt was said: by an agent, not by a person. What was learned of such a prompt as a
-- person's is learned again, without it.
ALTER TABLE turns ADD COLUMN delegation TEXT NOT NULL DEFAULT '';
UPDATE turns SET delegation = d.id, learned = 0,
	user = substr(user, 1, instr(user, char(10, 10) || 'This was delegated to you by another agent') - 1)
	FROM delegations d JOIN sessions s ON s.acp_id = d.acp_id AND s.parent_key = d.caller
	WHERE turns.session = s.id AND d.acp_id <> ''
	AND instr(user, char(10, 10) || 'This was delegated to you by another agent') > 1;
-- The delegation whose result a message is, '' for none.
ALTER TABLE messages ADD COLUMN delegation TEXT NOT NULL DEFAULT '';
