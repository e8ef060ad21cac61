-- Fewer tables: what two or three have kept is kept in one. Each section makes the new table, takes the rows over, and
-- drops the old ones. It is one transaction, so that a program that is killed leaves the old schema or the new.

-- What a person has had forgotten, in one table.

-- Rows whose entry in the index is not what it should be, in one table.

-- What is noted once, in one table.

-- Keys that a session-start was sent with before their session had a row are rows of session_keys.

-- A context that waits for the next process is the session's.
