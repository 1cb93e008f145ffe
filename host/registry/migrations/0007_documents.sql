-- A field that no query asks for is in the JSON document of its row, so that a new field
-- needs no column. The fields that have a column are not in the document. Times in
-- documents are texts. A JSON text that can't be read stays a text, so that reading the
-- record reports it.

DROP INDEX workers_starting;
DROP INDEX workers_team;
DROP INDEX workers_running;
DROP INDEX workers_expiring;
ALTER TABLE workers RENAME TO workers_6;

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

INSERT INTO workers (seq, id, name, state, backend, team, retain, handle_version, handle, ended_ns, shell, document)
SELECT seq, id, name, state, backend, team, retain, handle_version, handle, iif(exit_code IS NULL, 0, ended_ns), shell <> '',
	json_object(
		'plugin', iif(json_valid(plugin), json(plugin), nullif(plugin, '')),
		'command', iif(json_valid(command), json(command), nullif(command, '')),
		'dir', dir,
		'env', iif(json_valid(env), json(env), nullif(env, '')),
		'tags', iif(json_valid(tags), json(tags), nullif(tags, '')),
		'options', iif(json_valid(options), json(options), nullif(options, '')),
		'kill', iif(json_valid(kill_policy), json(kill_policy), nullif(kill_policy, '')),
		'output_limit', nullif(output_limit, 0),
		'owner', iif(json_valid(owner), json(owner), nullif(owner, '')),
		'agent', nullif(agent, ''),
		'shell', iif(json_valid(shell), json(shell), nullif(shell, '')),
		'workspace_ask', iif(json_valid(workspace_ask), json(workspace_ask), nullif(workspace_ask, '')),
		'stdin', iif(stdin, json('true'), NULL),
		'restart', iif(json_valid(restart), json(restart), nullif(restart, '')),
		'ralph', iif(ralph, json('true'), NULL),
		'project', nullif(project, ''),
		'profile', nullif(profile, ''),
		'no_screen', iif(backend = 'process', json('true'), NULL),
		'previous', iif(json_valid(previous), json(previous), nullif(previous, '')),
		'created', iif(created_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', created_ns / 1000000000, 'unixepoch') || printf('.%09dZ', created_ns % 1000000000)),
		'step', nullif(step, ''),
		'workspace', iif(json_valid(workspace), json(workspace), nullif(workspace, '')),
		'place', iif(json_valid(place), json(place), nullif(place, '')),
		'pid', nullif(pid, 0),
		'started', iif(started_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', started_ns / 1000000000, 'unixepoch') || printf('.%09dZ', started_ns % 1000000000)),
		'exit', iif(exit_code IS NULL, NULL, json_object(
			'Code', exit_code, 'Signal', exit_signal, 'Cause', exit_cause, 'Reason', exit_reason,
			'Time', iif(ended_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', ended_ns / 1000000000, 'unixepoch') || printf('.%09dZ', ended_ns % 1000000000)))),
		'completion', iif(json_valid(completion), json(completion), nullif(completion, '')),
		'restarts', nullif(restarts, 0),
		'replaces', iif(json_valid(replaces), json_set(json_remove(replaces, '$.ShellRead'),
			'$.shell_read', coalesce(replaces -> '$.ShellRead', 0)), nullif(replaces, '')),
		'reason', nullif(reason, ''),
		'shell_read', nullif(shell_read, 0))
FROM workers_6 ORDER BY seq;

DROP TABLE workers_6;

CREATE INDEX workers_starting ON workers (backend) WHERE state = 'starting';
CREATE INDEX workers_running ON workers (backend) WHERE state = 'running';
CREATE INDEX workers_team ON workers (team) WHERE team <> '';
-- Workers that have ended and are kept for a time only.
CREATE INDEX workers_expiring ON workers (retain, ended_ns) WHERE state = 'stopped' AND retain NOT IN ('', 'until-clean');

DROP INDEX agents_name;
DROP INDEX agents_token;
DROP INDEX agents_worker;
DROP INDEX agents_live;
ALTER TABLE agents RENAME TO agents_6;

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

INSERT INTO agents (seq, id, team, name, status, worker_id, token_hash, created_ns, heartbeat_ns, lost_ns, document)
SELECT seq, id, team, name, status, worker_id, token_hash, created_ns, heartbeat_ns, lost_ns,
	json_object(
		'role', role,
		'model', nullif(model, ''),
		'color', nullif(color, ''),
		'session', nullif(session, ''),
		'pane', nullif(pane, ''),
		'dir', nullif(dir, ''),
		'prompt', nullif(prompt, ''),
		'before', nullif(before, ''),
		'worker', nullif(worker, ''),
		'terminated', iif(terminated_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', terminated_ns / 1000000000, 'unixepoch') || printf('.%09dZ', terminated_ns % 1000000000)),
		'color_used', iif(color_used_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', color_used_ns / 1000000000, 'unixepoch') || printf('.%09dZ', color_used_ns % 1000000000)),
		'last_error', nullif(last_error, ''),
		'rotations', nullif(rotations, 0))
FROM agents_6 ORDER BY seq;

-- A number is not given twice, although its row is gone.
DELETE FROM sqlite_sequence WHERE name = 'agents';
INSERT INTO sqlite_sequence (name, seq) SELECT 'agents', seq FROM sqlite_sequence WHERE name = 'agents_6';
DROP TABLE agents_6;

CREATE UNIQUE INDEX agents_name ON agents (team, name) WHERE status <> 'terminated';
CREATE UNIQUE INDEX agents_token ON agents (token_hash) WHERE token_hash <> '';
CREATE INDEX agents_worker ON agents (worker_id) WHERE worker_id <> '';
-- Agents whose worker was not found to have ended.
CREATE INDEX agents_live ON agents (worker_id) WHERE status <> 'terminated' AND lost_ns = 0;

DROP INDEX shutdowns_agent;
ALTER TABLE shutdowns RENAME TO shutdowns_6;

CREATE TABLE shutdowns (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	team     TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	phase    TEXT NOT NULL CHECK (phase IN ('requested', 'approved', 'rejected', 'confirmed', 'force_killed')),
	document TEXT NOT NULL
);

INSERT INTO shutdowns (id, team, agent_id, phase, document)
SELECT id, team, agent_id, phase,
	json_object(
		'requester', nullif(requester, ''),
		'reason', nullif(reason, ''),
		'forced', iif(forced, json('true'), NULL),
		'told', iif(told, json('true'), NULL),
		'requested', iif(requested_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', requested_ns / 1000000000, 'unixepoch') || printf('.%09dZ', requested_ns % 1000000000)),
		'responded', iif(responded_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', responded_ns / 1000000000, 'unixepoch') || printf('.%09dZ', responded_ns % 1000000000)),
		'completed', iif(completed_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', completed_ns / 1000000000, 'unixepoch') || printf('.%09dZ', completed_ns % 1000000000)),
		'response', nullif(response, ''),
		'reassigned', iif(json_valid(reassigned), json(reassigned), nullif(reassigned, '')))
FROM shutdowns_6 ORDER BY id;

DELETE FROM sqlite_sequence WHERE name = 'shutdowns';
INSERT INTO sqlite_sequence (name, seq) SELECT 'shutdowns', seq FROM sqlite_sequence WHERE name = 'shutdowns_6';
DROP TABLE shutdowns_6;

CREATE INDEX shutdowns_agent ON shutdowns (agent_id);

DROP INDEX tasks_waiting;
ALTER TABLE tasks RENAME TO tasks_6;

CREATE TABLE tasks (
	team       TEXT NOT NULL,
	n          INTEGER NOT NULL,
	status     TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed')),
	owner      TEXT NOT NULL DEFAULT '',
	-- The member that the task is for: an agent's id or 'leader'; empty: any.
	assignee   TEXT NOT NULL DEFAULT '',
	created_ns INTEGER NOT NULL,
	brought    TEXT NOT NULL DEFAULT '',
	brought_ns INTEGER NOT NULL DEFAULT 0,
	quiet      INTEGER NOT NULL DEFAULT 0,
	document   TEXT NOT NULL,
	PRIMARY KEY (team, n)
);

INSERT INTO tasks (team, n, status, owner, assignee, created_ns, brought, brought_ns, quiet, document)
SELECT team, n, status, owner, assignee, created_ns, brought, brought_ns, quiet,
	json_object(
		'title', title,
		'description', nullif(description, ''),
		'priority', priority,
		'updated', iif(updated_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', updated_ns / 1000000000, 'unixepoch') || printf('.%09dZ', updated_ns % 1000000000)),
		'claimed', iif(claimed_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', claimed_ns / 1000000000, 'unixepoch') || printf('.%09dZ', claimed_ns % 1000000000)),
		'completed', iif(completed_ns = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', completed_ns / 1000000000, 'unixepoch') || printf('.%09dZ', completed_ns % 1000000000)),
		'warning', nullif(warning, ''))
FROM tasks_6 ORDER BY rowid;

DROP TABLE tasks_6;

CREATE INDEX tasks_waiting ON tasks (team, assignee) WHERE brought = '' AND status = 'pending' AND assignee <> '';
