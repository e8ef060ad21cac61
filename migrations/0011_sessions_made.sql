-- When the harness made a session, where we saw that; 0: it was loaded.
ALTER TABLE sessions ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
