-- The hash of the title that a harness made of a block alone, because it reads only the beginning of a first prompt
-- for it ('' for none): where it shows that title again, the person's own words stand in its place.
ALTER TABLE injections ADD COLUMN title TEXT NOT NULL DEFAULT '';
