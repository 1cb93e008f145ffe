-- Times are Unix nanoseconds, 0 if not known. A column of JSON is empty where there is nothing
-- to say. A field that no query asks for is in the JSON document of its row, in which times are
-- texts; a field that has a column is not in the document.

-- One row for each worker that was not cleaned.
CREATE TABLE workers (
	seq            INTEGER PRIMARY KEY,
	id             TEXT NOT NULL UNIQUE,
	name           TEXT NOT NULL UNIQUE,
	state          TEXT NOT NULL CHECK (state IN ('starting', 'running', 'stopped')),
	backend        TEXT NOT NULL,
	team           TEXT NOT NULL DEFAULT '',
	retain         TEXT NOT NULL DEFAULT '',
	handle_version INTEGER NOT NULL DEFAULT 0,
	handle         BLOB,
	-- Copies of what the document says, for indexes and queries: when the worker ended
	-- (0: not known), and whether it is a shell.
	ended_ns       INTEGER NOT NULL DEFAULT 0,
	shell          INTEGER NOT NULL DEFAULT 0,
	document       TEXT NOT NULL
);

-- Every spawn looks for interrupted ones.
CREATE INDEX workers_starting ON workers (backend) WHERE state = 'starting';
-- What every call looks for costs as much with thousands of workers as with one.
CREATE INDEX workers_running ON workers (backend) WHERE state = 'running';
-- Every end of a worker of a team looks for what belongs to that team.
CREATE INDEX workers_team ON workers (team) WHERE team <> '';
-- Workers that have ended and are kept for a time only.
CREATE INDEX workers_expiring ON workers (retain, ended_ns) WHERE state = 'stopped' AND retain NOT IN ('', 'until-clean');

-- The ids of workers whose run directories have outlived their records.
CREATE TABLE leftovers (worker_id TEXT PRIMARY KEY) WITHOUT ROWID;

-- What happened to workers, in the order of seq. It outlives the workers. time_ns is when it
-- happened, which may be long before it was written.
CREATE TABLE events (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	time_ns    INTEGER NOT NULL,
	worker_id  TEXT NOT NULL,
	worker     TEXT NOT NULL,
	kind       TEXT NOT NULL,
	text       TEXT NOT NULL DEFAULT '',
	final      INTEGER NOT NULL DEFAULT 0,
	-- The id of the incarnation that this one replaced.
	previous   TEXT NOT NULL DEFAULT '',
	-- With an end, the exit if it is known: JSON.
	exit       TEXT NOT NULL DEFAULT '',
	-- The tags that the worker had: JSON. The record may be gone.
	tags       TEXT NOT NULL DEFAULT ''
);

-- A worker ends once.
CREATE UNIQUE INDEX events_final ON events (worker_id) WHERE final;
CREATE INDEX events_worker ON events (worker);
CREATE INDEX events_worker_id ON events (worker_id);
-- Retention and --since look for events by their time, which is nearly in the order of seq.
CREATE INDEX events_time ON events (time_ns);

-- How far the history was cut: the highest seq of the events that were removed from it. There
-- is one row if any were.
CREATE TABLE history (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	removed INTEGER NOT NULL
);

-- The place of each hook in the history: its command ran for all events up to seq, but for
-- those in hook_retries.
CREATE TABLE hooks (
	name TEXT PRIMARY KEY,
	seq  INTEGER NOT NULL
) WITHOUT ROWID;

-- The events for which the command of a hook is to run again, since it failed.
CREATE TABLE hook_retries (
	hook    TEXT NOT NULL,
	seq     INTEGER NOT NULL,
	-- How often the command ran for the event.
	tries   INTEGER NOT NULL,
	next_ns INTEGER NOT NULL,
	PRIMARY KEY (hook, seq)
) WITHOUT ROWID;

CREATE TABLE teams (
	name          TEXT PRIMARY KEY,
	description   TEXT NOT NULL DEFAULT '',
	-- The id of the worker that leads it, with all that runs in it; empty: people do.
	leader_worker TEXT NOT NULL DEFAULT '',
	-- The server that its agents share: JSON, empty if it has none.
	server        TEXT NOT NULL DEFAULT '',
	created_ns    INTEGER NOT NULL
);

-- One row for each agent that ever was in a team that still exists.
CREATE TABLE agents (
	seq          INTEGER PRIMARY KEY AUTOINCREMENT,
	id           TEXT NOT NULL UNIQUE,
	team         TEXT NOT NULL,
	name         TEXT NOT NULL,
	status       TEXT NOT NULL CHECK (status IN ('spawning', 'active', 'idle', 'inactive', 'shutting_down', 'terminated')),
	worker_id    TEXT NOT NULL DEFAULT '',
	-- A terminated agent has none.
	token_hash   TEXT NOT NULL DEFAULT '',
	created_ns   INTEGER NOT NULL,
	heartbeat_ns INTEGER NOT NULL DEFAULT 0,
	-- When its process ended by itself.
	lost_ns      INTEGER NOT NULL DEFAULT 0,
	document     TEXT NOT NULL
);

CREATE UNIQUE INDEX agents_name ON agents (team, name) WHERE status <> 'terminated';
CREATE UNIQUE INDEX agents_token ON agents (token_hash) WHERE token_hash <> '';
CREATE INDEX agents_worker ON agents (worker_id) WHERE worker_id <> '';
-- Agents whose worker was not found to have ended.
CREATE INDEX agents_live ON agents (worker_id) WHERE status <> 'terminated' AND lost_ns = 0;

-- Every time that an agent was to end, by request or by force.
CREATE TABLE shutdowns (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	team     TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	phase    TEXT NOT NULL CHECK (phase IN ('requested', 'approved', 'rejected', 'confirmed', 'force_killed')),
	document TEXT NOT NULL
);

CREATE INDEX shutdowns_agent ON shutdowns (agent_id);

CREATE TABLE tasks (
	team       TEXT NOT NULL,
	n          INTEGER NOT NULL,
	status     TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed')),
	owner      TEXT NOT NULL DEFAULT '',
	-- The member that the task is for: an agent's id or 'leader'; empty: any.
	assignee   TEXT NOT NULL DEFAULT '',
	created_ns INTEGER NOT NULL,
	-- How the task was brought to its member, and when; empty and 0: not yet. One that is
	-- quiet wakes no member.
	brought    TEXT NOT NULL DEFAULT '',
	brought_ns INTEGER NOT NULL DEFAULT 0,
	quiet      INTEGER NOT NULL DEFAULT 0,
	document   TEXT NOT NULL,
	PRIMARY KEY (team, n)
);

CREATE INDEX tasks_waiting ON tasks (team, assignee) WHERE brought = '' AND status = 'pending' AND assignee <> '';

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
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	team       TEXT NOT NULL,
	sender     TEXT NOT NULL,
	-- An agent's id or 'leader'.
	recipient  TEXT NOT NULL,
	type       TEXT NOT NULL CHECK (type IN ('plain', 'shutdown_request', 'shutdown_approved', 'system')),
	body       TEXT NOT NULL,
	time_ns    INTEGER NOT NULL,
	-- When it was read, 0: not yet.
	read_ns    INTEGER NOT NULL DEFAULT 0,
	-- As in tasks.
	brought    TEXT NOT NULL DEFAULT '',
	brought_ns INTEGER NOT NULL DEFAULT 0,
	quiet      INTEGER NOT NULL DEFAULT 0
);

-- In an index the id comes last by itself.
CREATE INDEX messages_inbox ON messages (team, recipient, read_ns);
CREATE INDEX messages_waiting ON messages (team, recipient) WHERE brought = '' AND read_ns = 0;

-- The line that is being typed for the agent of a worker. It stays here if the process that
-- types it is killed.
CREATE TABLE nudges (
	worker_id TEXT PRIMARY KEY,
	text      TEXT NOT NULL,
	begun_ns  INTEGER NOT NULL
) WITHOUT ROWID;
