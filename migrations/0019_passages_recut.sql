-- Parts of long code blocks have fences, and a pasted log's lines that differ in digits alone are kept once: all turns
-- are taken in once more, down from the newest, beside the conversations.
UPDATE passages_backlog SET turn = (SELECT coalesce(max(id), 0) FROM turns);

-- Nothing looks up the user's passages of a session any more.
DROP INDEX passages_user;
