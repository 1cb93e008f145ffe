-- One row for each worker that was not cleaned. Times are Unix nanoseconds, 0
-- if not known. JSON columns are empty where there is nothing to say.
CREATE TABLE workers (
	seq              INTEGER PRIMARY KEY,
	id               TEXT NOT NULL UNIQUE,
	name             TEXT NOT NULL UNIQUE,
	state            TEXT NOT NULL CHECK (state IN ('starting', 'running', 'stopped')),
	-- What is under way: in a spawn the last step that was begun.
	step             TEXT NOT NULL DEFAULT '',
	backend          TEXT NOT NULL,
	-- How to start the backend, where a config file said so: JSON.
	plugin           TEXT NOT NULL DEFAULT '',
	command          TEXT NOT NULL,
	dir              TEXT NOT NULL,
	env              TEXT NOT NULL DEFAULT '',
	tags             TEXT NOT NULL DEFAULT '',
	options          TEXT NOT NULL DEFAULT '',
	kill_policy      TEXT NOT NULL DEFAULT '',
	output_limit     INTEGER NOT NULL DEFAULT 0,
	retain           TEXT NOT NULL DEFAULT 'until-clean',
	owner            TEXT NOT NULL DEFAULT '',
	team             TEXT NOT NULL DEFAULT '',
	-- What workspace was asked for, and what was made; both JSON.
	workspace_ask    TEXT NOT NULL DEFAULT '',
	workspace        TEXT NOT NULL DEFAULT '',
	handle_version   INTEGER NOT NULL DEFAULT 0,
	handle           BLOB,
	place            TEXT NOT NULL DEFAULT '',
	pid              INTEGER NOT NULL DEFAULT 0,
	created_ns       INTEGER NOT NULL,
	started_ns       INTEGER NOT NULL DEFAULT 0,
	-- The exit: NULL code if it is not known.
	exit_code        INTEGER,
	exit_signal      TEXT NOT NULL DEFAULT '',
	exit_cause       TEXT NOT NULL DEFAULT '',
	exit_reason      TEXT NOT NULL DEFAULT '',
	ended_ns         INTEGER NOT NULL DEFAULT 0,
	-- Why it is as it is, one line for people.
	reason           TEXT NOT NULL DEFAULT ''
);

-- Spawns that were interrupted are looked for by every spawn.
CREATE INDEX workers_starting ON workers (backend) WHERE state = 'starting';
