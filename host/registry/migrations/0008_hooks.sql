-- The tags that the worker had, for those who are told of events: JSON; empty: none. The
-- record may be gone by then.
ALTER TABLE events ADD COLUMN tags TEXT NOT NULL DEFAULT '';

-- How far the hooks of the user's config file were told: of all events up to seq, but for
-- those in hook_retries.
CREATE TABLE hooks (
	name TEXT PRIMARY KEY,
	seq  INTEGER NOT NULL
) WITHOUT ROWID;

-- The events of which a hook is to be told again, since its command failed.
CREATE TABLE hook_retries (
	hook    TEXT NOT NULL,
	seq     INTEGER NOT NULL,
	-- How often its command was run for the event.
	tries   INTEGER NOT NULL,
	next_ns INTEGER NOT NULL,
	PRIMARY KEY (hook, seq)
) WITHOUT ROWID;
