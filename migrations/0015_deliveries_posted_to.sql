-- The last turn of what a delivery had begun to post: it goes on with the same turns, cut as they were.
ALTER TABLE deliveries ADD COLUMN posted_to INTEGER NOT NULL DEFAULT 0;
