-- What happened to workers, in the order of seq. It outlives the workers. time_ns
-- is when it happened, which may be long before it was written.
CREATE TABLE events (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	time_ns    INTEGER NOT NULL,
	worker_id  TEXT NOT NULL,
	worker     TEXT NOT NULL,
	kind       TEXT NOT NULL,
	text       TEXT NOT NULL DEFAULT '',
	final      INTEGER NOT NULL DEFAULT 0,
	-- The id of the incarnation that this one took the place of.
	previous   TEXT NOT NULL DEFAULT '',
	-- With an end, the exit if it is known: JSON.
	exit       TEXT NOT NULL DEFAULT ''
);

-- A worker ends once.
CREATE UNIQUE INDEX events_final ON events (worker_id) WHERE final;

-- The ids of workers whose records went while their keepers, or a crash, still
-- kept their run directories from going with them.
CREATE TABLE leftovers (worker_id TEXT PRIMARY KEY) WITHOUT ROWID;

-- Nobody could have one before.
UPDATE workers SET owner = '' WHERE owner <> '';

ALTER TABLE workers ADD COLUMN stdin INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN restart TEXT NOT NULL DEFAULT '';
ALTER TABLE workers ADD COLUMN ralph INTEGER NOT NULL DEFAULT 0;
-- The ids of the incarnations before, the oldest first: JSON.
ALTER TABLE workers ADD COLUMN previous TEXT NOT NULL DEFAULT '';
-- The whole record that this one is to take the place of, until it runs: JSON.
ALTER TABLE workers ADD COLUMN replaces TEXT NOT NULL DEFAULT '';
-- How many restarts the events tell.
ALTER TABLE workers ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN completion TEXT NOT NULL DEFAULT '';
-- The config file that declared it.
ALTER TABLE workers ADD COLUMN project TEXT NOT NULL DEFAULT '';
