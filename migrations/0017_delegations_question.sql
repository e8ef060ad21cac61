-- What a delegation's child wants to be allowed and its caller's client is asked, as JSON; '' where nothing is.
ALTER TABLE delegations ADD COLUMN question TEXT NOT NULL DEFAULT '';
-- The client's answer; NULL: none yet.
ALTER TABLE delegations ADD COLUMN permitted INTEGER;
