-- Whether an answer used what a session was told, as words that came back said, was no better than chance. What was
-- told stands in the ledger.
DROP TABLE passages_told;
ALTER TABLE passages DROP COLUMN given;
ALTER TABLE passages DROP COLUMN used;
