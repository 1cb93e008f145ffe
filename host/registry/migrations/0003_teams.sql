-- The id of the agent that a worker is.
ALTER TABLE workers ADD COLUMN agent TEXT NOT NULL DEFAULT '';
-- What a background shell is beside a worker: JSON.
ALTER TABLE workers ADD COLUMN shell TEXT NOT NULL DEFAULT '';
-- How many bytes of its transcript were read.
ALTER TABLE workers ADD COLUMN shell_read INTEGER NOT NULL DEFAULT 0;

-- What belongs to a team is looked for at every end of one of its workers.
CREATE INDEX workers_team ON workers (team) WHERE team <> '';

CREATE TABLE teams (
	name          TEXT PRIMARY KEY,
	description   TEXT NOT NULL DEFAULT '',
	-- The id of the worker whose inhabitants lead it; empty: people do.
	leader_worker TEXT NOT NULL DEFAULT '',
	-- The server that its agents share: JSON, empty if it has none.
	server        TEXT NOT NULL DEFAULT '',
	created_ns    INTEGER NOT NULL
);

-- One row for each agent that ever was in a team that is still there.
CREATE TABLE agents (
	seq           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT NOT NULL UNIQUE,
	team          TEXT NOT NULL,
	name          TEXT NOT NULL,
	role          TEXT NOT NULL CHECK (role IN ('leader', 'worker', 'reviewer')),
	model         TEXT NOT NULL DEFAULT '',
	color         TEXT NOT NULL DEFAULT '',
	session       TEXT NOT NULL DEFAULT '',
	pane          TEXT NOT NULL DEFAULT '',
	dir           TEXT NOT NULL DEFAULT '',
	prompt        TEXT NOT NULL DEFAULT '',
	status        TEXT NOT NULL CHECK (status IN ('spawning', 'active', 'idle', 'inactive', 'shutting_down', 'terminated')),
	-- The status that it has again when what it is in is called off.
	before        TEXT NOT NULL DEFAULT '',
	worker_id     TEXT NOT NULL DEFAULT '',
	worker        TEXT NOT NULL DEFAULT '',
	-- Of a terminated agent there is none.
	token_hash    TEXT NOT NULL DEFAULT '',
	created_ns    INTEGER NOT NULL,
	heartbeat_ns  INTEGER NOT NULL DEFAULT 0,
	-- When its process ended by itself.
	lost_ns       INTEGER NOT NULL DEFAULT 0,
	terminated_ns INTEGER NOT NULL DEFAULT 0,
	color_used_ns INTEGER NOT NULL DEFAULT 0,
	last_error    TEXT NOT NULL DEFAULT '',
	rotations     INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX agents_name ON agents (team, name) WHERE status <> 'terminated';
CREATE UNIQUE INDEX agents_token ON agents (token_hash) WHERE token_hash <> '';
CREATE INDEX agents_worker ON agents (worker_id) WHERE worker_id <> '';

-- Every time that an agent was to end, by request or by force.
CREATE TABLE shutdowns (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	team         TEXT NOT NULL,
	agent_id     TEXT NOT NULL,
	requester    TEXT NOT NULL DEFAULT '',
	reason       TEXT NOT NULL DEFAULT '',
	phase        TEXT NOT NULL CHECK (phase IN ('requested', 'approved', 'rejected', 'confirmed', 'force_killed')),
	forced       INTEGER NOT NULL DEFAULT 0,
	-- Whether the one who asked was told of the rejection.
	told         INTEGER NOT NULL DEFAULT 0,
	requested_ns INTEGER NOT NULL,
	responded_ns INTEGER NOT NULL DEFAULT 0,
	completed_ns INTEGER NOT NULL DEFAULT 0,
	response     TEXT NOT NULL DEFAULT '',
	-- The ids of the tasks that were given back: JSON.
	reassigned   TEXT NOT NULL DEFAULT ''
);

CREATE INDEX shutdowns_agent ON shutdowns (agent_id);

CREATE TABLE tasks (
	team         TEXT NOT NULL,
	n            INTEGER NOT NULL,
	title        TEXT NOT NULL,
	description  TEXT NOT NULL DEFAULT '',
	priority     TEXT NOT NULL CHECK (priority IN ('high', 'normal', 'low')),
	status       TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed')),
	owner        TEXT NOT NULL DEFAULT '',
	created_ns   INTEGER NOT NULL,
	updated_ns   INTEGER NOT NULL DEFAULT 0,
	claimed_ns   INTEGER NOT NULL DEFAULT 0,
	completed_ns INTEGER NOT NULL DEFAULT 0,
	warning      TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (team, n)
);

-- Task n can't be claimed before the task that it needs is completed.
CREATE TABLE task_deps (
	team  TEXT NOT NULL,
	n     INTEGER NOT NULL,
	needs INTEGER NOT NULL,
	PRIMARY KEY (team, n, needs)
) WITHOUT ROWID;

CREATE INDEX task_deps_needs ON task_deps (team, needs);

-- One row for each recipient.
CREATE TABLE messages (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	team      TEXT NOT NULL,
	sender    TEXT NOT NULL,
	-- An agent's id or 'leader'.
	recipient TEXT NOT NULL,
	type      TEXT NOT NULL CHECK (type IN ('plain', 'shutdown_request', 'shutdown_approved', 'system')),
	body      TEXT NOT NULL,
	time_ns   INTEGER NOT NULL,
	-- When it was read, 0: not yet.
	read_ns   INTEGER NOT NULL DEFAULT 0
);

-- In an index the id comes last by itself.
CREATE INDEX messages_inbox ON messages (team, recipient, read_ns);
