-- Who sums up what was used wants to know of each turn when it was and of which session, and nothing of its text.
DROP INDEX turns_started;
CREATE INDEX turns_started ON turns (started, session);
