-- A prompt reads the rules alone, of all that is remembered; the further columns say which without reading the row.
CREATE INDEX memories_rules ON memories (created, project, personal, turn)
    WHERE type IN ('rule', 'preference', 'wish') AND origin = 'user';
