-- Passages are cut where tools were called, and know what of their turn they are: all turns are taken in once more,
-- down from the newest, beside the conversations.
UPDATE passages_backlog SET turn = (SELECT coalesce(max(id), 0) FROM turns);

-- What users said in a session, in its order: short, and told before what was answered.
CREATE INDEX passages_user ON passages (thread, position) WHERE origin = 'user' AND turn IS NOT NULL;
