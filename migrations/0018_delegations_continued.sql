-- The delegation that this one goes on with, '' for none; and where the tree is that a follow-up would go on in.
ALTER TABLE delegations ADD COLUMN continues TEXT NOT NULL DEFAULT '';
ALTER TABLE delegations ADD COLUMN tree TEXT NOT NULL DEFAULT '';
CREATE INDEX delegations_continues ON delegations (continues) WHERE continues <> '';
-- Whether an agent opens a session again; NULL: it was not asked since this is noted.
ALTER TABLE agents_seen ADD COLUMN reopens INTEGER;
