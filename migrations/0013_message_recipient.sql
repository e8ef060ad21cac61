-- A message may be for one conversation: it goes to that session, or to one that goes on from it, with its next prompt.
ALTER TABLE messages ADD COLUMN recipient TEXT NOT NULL DEFAULT ''; -- a Signet key; '': any session of the agent
