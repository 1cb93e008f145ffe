package registry

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
)

// Salvaged is a damaged database, of which [Build] reads what can be read, row by row: the
// history, and all that is in no run directory.
type Salvaged struct {
	// Seen is called with each event of its history, in their order up to the damage; nil: not
	// called.
	Seen func(Event)
	// Then returns the events to add to the history; nil: none.
	Then func() []Event

	// schema is the version that the database had.
	schema int
	from   *Registry
}

// otherTables are the tables of teams and hooks, and by what to read them without an index,
// which may be what is damaged.
var otherTables = []struct{ name, key string }{
	{"teams", "rowid"},
	{"agents", "rowid"},
	{"shutdowns", "rowid"},
	{"tasks", "rowid"},
	{"task_deps", "team, n, needs"},
	{"messages", "rowid"},
	{"hooks", "name"},
	{"hook_retries", "hook, seq"},
	{"history", "id"},
}

// Salvage opens a damaged database. If that fails, there is nothing to read.
func Salvage(ctx context.Context, path string) *Salvaged {
	s := &Salvaged{schema: Schema}
	from, err := open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return s
	}
	s.from = from
	if version, err := schemaOf(ctx, from.db, path); err == nil && version > 0 {
		s.schema = version
	}
	return s
}

func (s *Salvaged) Close() {
	if s.from != nil {
		_ = s.from.Close() // it is damaged already
	}
}

// events calls each with the events that can be read, some perhaps twice. It returns the errors
// of each alone.
func (s *Salvaged) events(ctx context.Context, each func(Event) error) error {
	if s.from == nil {
		return nil
	}
	row := func(rows *sql.Rows) error {
		e, err := scan[Event](rows)
		if err != nil {
			return nil //nolint:nilerr // one that can't be read is left out
		}
		return each(e)
	}
	return s.eachRow(ctx, row, "SELECT "+eventColumns+" FROM events NOT INDEXED ORDER BY ", "seq")
}

// eachRow calls row with the rows of a query that ends with the order, key, up to a page that
// can't be read, and then with those behind it from the other end. It returns the errors of row
// alone.
func (s *Salvaged) eachRow(ctx context.Context, row func(*sql.Rows) error, query, key string) error {
	var failed error
	once := func(found *sql.Rows) error {
		failed = row(found)
		return failed
	}
	err := eachRow(ctx, s.from.db, once, query+key)
	if err != nil && failed == nil {
		_ = eachRow(ctx, s.from.db, once, query+strings.ReplaceAll(key, ",", " DESC,")+" DESC")
	}
	return failed
}

// restore writes the rows of the other tables as they are stored.
func (t *Tx) restore(ctx context.Context, s *Salvaged) error {
	for _, table := range otherTables {
		insert := ""
		var row, targets []any
		err := s.eachRow(ctx, func(found *sql.Rows) error {
			if insert == "" {
				columns, err := found.Columns()
				if err != nil {
					return err
				}
				row, targets = make([]any, len(columns)), make([]any, len(columns))
				for i := range row {
					targets[i] = &row[i]
				}
				names := strings.Join(columns, ", ")
				// A row that breaks a rule of the schema counts as unreadable.
				insert = fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", table.name, names, marks(names))
			}
			if err := found.Scan(targets...); err != nil {
				return nil //nolint:nilerr // one that can't be read is left out
			}
			return t.exec(ctx, insert, row...)
		}, "SELECT * FROM "+table.name+" NOT INDEXED ORDER BY ", table.key)
		if err != nil {
			return fmt.Errorf("restore %s: %w", table.name, err)
		}
	}
	return nil
}

// replay writes the history, and then what follows from it.
func (t *Tx) replay(ctx context.Context, s *Salvaged) error {
	err := s.events(ctx, func(e Event) error {
		added, err := t.Append(ctx, e)
		if added > 0 && s.Seen != nil {
			s.Seen(e)
		}
		return err
	})
	if err == nil && s.Then != nil {
		_, err = t.Append(ctx, s.Then()...)
	}
	return err
}

// mend keeps the restored rows of a team from waiting without end for lost ones.
func (t *Tx) mend(ctx context.Context) error {
	return wrapf(t.exec(ctx, mending), "mend what was restored")
}

const mending = `
	-- People lead a team that is known by its members only.
	INSERT OR IGNORE INTO teams (name, created_ns)
		SELECT team, min(created_ns) FROM (
			SELECT team, created_ns FROM agents
			UNION ALL SELECT team, created_ns FROM tasks
			UNION ALL SELECT team, time_ns FROM messages)
		GROUP BY team;
	UPDATE tasks SET document = json_set(document, '$.warning', 'A task that it waited for was lost')
		WHERE status = 'pending' AND json_valid(document) AND EXISTS (
		SELECT 1 FROM task_deps d WHERE d.team = tasks.team AND d.n = tasks.n
			AND NOT EXISTS (SELECT 1 FROM tasks o WHERE o.team = d.team AND o.n = d.needs));
	DELETE FROM task_deps WHERE NOT EXISTS (SELECT 1 FROM tasks o WHERE o.team = task_deps.team AND o.n = task_deps.n)
		OR NOT EXISTS (SELECT 1 FROM tasks o WHERE o.team = task_deps.team AND o.n = task_deps.needs)`
