-- The profile of agents that a worker was given; empty: that of its command.
ALTER TABLE workers ADD COLUMN profile TEXT NOT NULL DEFAULT '';
