-- Parts of long code blocks have fences, and a pasted log's lines that differ in digits alone are kept once: all turns
-- are taken in once more, down from the newest, beside the conversations.
UPDATE passages_backlog SET turn = (SELECT coalesce(max(id), 0) FROM turns);

-- Whether a memory has a time, or speaks of who said it, is kept with its passage.
INSERT OR IGNORE INTO memories_stale SELECT id FROM memories WHERE source <> 'turn';

-- Nothing looks up the user's passages of a session any more.
DROP INDEX passages_user;
