-- The index of memories. It holds terms that the store makes of a text (identifiers split, words stemmed, CJK in
-- pairs), so the tokenizer only has to keep them whole; scope holds one for the project and one where the memory is
-- of any, so that a search reads only what it may show. What is deleted leaves the index at once.
CREATE VIRTUAL TABLE memories_fts USING fts5 (content, context, scope, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'");
INSERT INTO memories_fts (memories_fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE memories_terms USING fts5vocab (memories_fts, row);
