-- What a harness calls a session, as it said last. Redacted; '' where it said nothing.
ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
