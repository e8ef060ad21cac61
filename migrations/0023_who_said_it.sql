-- Who said what is remembered is how it came (memory.Who), in place of the side that spoke. What an older version took for
-- a person's words may have been pasted: all turns are taken in once more, down from the newest, beside the conversations.
DROP INDEX memories_rules;
ALTER TABLE memories RENAME COLUMN origin TO who;
UPDATE memories SET who = CASE
	WHEN source = 'memory pin' THEN 'pin'
	WHEN who = 'child' THEN 'child'
	WHEN who = 'import' THEN 'imported'
	WHEN source IN ('memory_store', 'memory_modify') THEN 'tool'
	WHEN who = 'assistant' THEN 'agent'
	ELSE 'typed' END;
ALTER TABLE passages RENAME COLUMN origin TO who;
UPDATE passages SET who = iif(memory IS NULL, iif(who = 'user', 'typed', 'agent'),
	(SELECT m.who FROM memories m WHERE m.id = memory));
DELETE FROM memories WHERE source = 'turn' AND type = 'wish';
UPDATE passages_index SET n = (SELECT coalesce(max(id), 0) FROM turns) WHERE kind = 'backlog';
INSERT OR IGNORE INTO passages_index (kind, id) SELECT 'memory', id FROM memories WHERE source <> 'turn';

-- A prompt reads of all memories those that may stand in the profile.
CREATE INDEX memories_profile ON memories (created, project, personal, turn)
	WHERE type IN ('rule', 'preference', 'fact') AND who IN ('typed', 'pin');

-- Whether a person was shown that this stands in their profile.
ALTER TABLE memories ADD COLUMN announced INTEGER NOT NULL DEFAULT 0;
UPDATE memories SET announced = 1;
