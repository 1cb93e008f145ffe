package registry

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
)

// Salvaged is what could be read of a damaged database beside the records of
// workers, which their run directories tell better.
type Salvaged struct {
	// Events are in their order.
	Events []Event
	// schema is the version that the database had, and others are the rows of its tables
	// that no run directory tells, as they are stored.
	schema int
	others []rows
}

type rows struct {
	table   string
	columns []string
	values  [][]any
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

// Salvage returns what can be read of a damaged database: nothing if that is all.
func Salvage(ctx context.Context, path string) Salvaged {
	var s Salvaged
	r, err := open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return s
	}
	defer func() { _ = r.Close() }() // it is damaged already
	if s.schema, err = userVersion(ctx, r.db); err != nil || s.schema < 1 || s.schema > Schema {
		s.schema = Schema
	}
	// A page that can't be read ends the reading; what came before it is good.
	if s.Events, err = r.events(ctx, "SELECT "+eventColumns+" FROM events ORDER BY seq"); err != nil && s.Events == nil {
		s.Events, _ = r.events(ctx, "SELECT "+oldEventColumns+" FROM events ORDER BY seq")
	}
	for _, t := range otherTables {
		if found := r.salvage(ctx, t.name, t.key); len(found.values) > 0 {
			s.others = append(s.others, found)
		}
	}
	return s
}

// salvage returns what can be read of a table, some rows perhaps twice.
func (r *Registry) salvage(ctx context.Context, table, key string) rows {
	query := "SELECT * FROM " + table + " NOT INDEXED ORDER BY "
	columns, values, err := r.values(ctx, query+key)
	if err != nil {
		// Rows after the damage are read from the other end.
		again, behind, _ := r.values(ctx, query+strings.ReplaceAll(key, ",", " DESC,")+" DESC")
		if len(behind) > 0 {
			columns, values = again, append(values, behind...)
		}
	}
	return rows{table, columns, values}
}

// values returns the rows of a query as they are stored, up to one that can't be
// read.
func (r *Registry) values(ctx context.Context, query string) (columns []string, all [][]any, err error) {
	err = eachRow(ctx, r.db, func(found *sql.Rows) (err error) {
		if columns, err = found.Columns(); err != nil {
			return err
		}
		row := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := found.Scan(targets...); err != nil {
			return err
		}
		all = append(all, row)
		return nil
	}, query)
	return columns, all, err
}

func (t *Tx) restore(ctx context.Context, s *Salvaged) error {
	for _, r := range s.others {
		columns := strings.Join(r.columns, ", ")
		// A row that breaks a rule of the schema counts as unreadable.
		insert := fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", r.table, columns, marks(columns))
		for _, row := range r.values {
			if err := t.exec(ctx, insert, row...); err != nil {
				return fmt.Errorf("restore %s: %w", r.table, err)
			}
		}
	}
	return nil
}

// mend keeps the restored rows of a team from waiting for ever for lost ones.
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
