-- How what is for a member was brought to it, and when; empty and 0: not yet. What
-- is quiet wakes nobody.
ALTER TABLE messages ADD COLUMN brought TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN brought_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0;

ALTER TABLE tasks ADD COLUMN brought TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN brought_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0;
-- The member that the task is for: an agent's id or 'leader'; empty: any.
ALTER TABLE tasks ADD COLUMN assignee TEXT NOT NULL DEFAULT '';

-- Nobody is woken for what came before anybody could be.
UPDATE messages SET brought = 'read', brought_ns = read_ns WHERE read_ns <> 0;
UPDATE messages SET quiet = 1 WHERE read_ns = 0;

CREATE INDEX messages_waiting ON messages (team, recipient) WHERE brought = '' AND read_ns = 0;
CREATE INDEX tasks_waiting ON tasks (team, assignee) WHERE brought = '' AND status = 'pending' AND assignee <> '';

-- The line that is being typed for the agent of a worker. It stays here if whoever
-- types it is killed.
CREATE TABLE nudges (
	worker_id TEXT PRIMARY KEY,
	text      TEXT NOT NULL,
	begun_ns  INTEGER NOT NULL
) WITHOUT ROWID;
