-- Retention and --since look for events by their time, which is nearly in the order of seq.
CREATE INDEX events_time ON events (time_ns);

-- How far the history was cut: the highest seq of the events that were removed from it. There
-- is one row if any were.
CREATE TABLE history (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	removed INTEGER NOT NULL
);
