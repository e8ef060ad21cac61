-- An import asks of each line whether that is there already. Of what says the same, which may be thousands, these find the
-- one that was made at the same time, or that stands at the same place.
DROP INDEX memories_digest;
CREATE INDEX memories_digest ON memories (digest, created);
CREATE INDEX memories_placed ON memories (digest, key, position) WHERE position IS NOT NULL;
