-- What was said, for who searches it (memory/embedded): it joins passages with this, and leaves the tables of sessions alone. A view, for a list of passages
-- reads many at once; what it has is a promise between the two.
CREATE VIEW turns_said AS SELECT t.id, t.session, t.key, s.harness, s.project FROM turns t JOIN sessions s ON s.id = t.session;
