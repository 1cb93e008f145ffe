package registry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Salvaged is what could be read of a damaged database beside the records of
// workers, which their run directories tell better.
type Salvaged struct {
	// Events are in their order.
	Events []Event
	// teams are the rows of the tables of teams, as they are stored.
	teams []rows
	// receipts says that the rows have receipts.
	receipts bool
}

// rows are rows of one table.
type rows struct {
	table, columns string
	values         [][]any
}

// teamTables are the tables of teams, and by what to read them without an index,
// which may be what is damaged. Receipt are columns that a table has since
// [receiptSchema].
var teamTables = []struct{ name, columns, receipt, key string }{
	{"teams", teamColumns, "", "rowid"},
	{"agents", "seq, " + agentColumns, "", "rowid"},
	{"shutdowns", "id, " + shutdownColumns, "", "rowid"},
	{"tasks", taskBasics, taskReceipt, "rowid"},
	{"task_deps", "team, n, needs", "", "team, n, needs"},
	{"messages", "id, team, sender, recipient, type, body, time_ns, read_ns", "brought, brought_ns, quiet", "rowid"},
}

// receiptSchema is the first schema with receipts.
const receiptSchema = 6

// Salvage returns what can be read of a damaged database: nothing if that is all.
func Salvage(ctx context.Context, path string) Salvaged {
	var s Salvaged
	r, err := open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return s
	}
	defer func() { _ = r.Close() }() // it is damaged already
	// A page that can't be read ends the reading; what came before it is good.
	s.Events, _ = r.events(ctx, "SELECT "+eventColumns+" FROM events ORDER BY seq")
	version, err := userVersion(ctx, r.db)
	s.receipts = err != nil || version >= receiptSchema
	for _, t := range teamTables {
		columns := t.columns
		if s.receipts && t.receipt != "" {
			columns += ", " + t.receipt
		}
		s.teams = append(s.teams, rows{t.name, columns, r.salvage(ctx, t.name, columns, t.key)})
	}
	return s
}

// salvage returns what can be read of a table, some rows perhaps twice.
func (r *Registry) salvage(ctx context.Context, table, columns, key string) [][]any {
	query := "SELECT " + columns + " FROM " + table + " NOT INDEXED ORDER BY "
	values, err := r.values(ctx, query+key)
	if err != nil {
		// Rows after the damage are read from the other end.
		behind, _ := r.values(ctx, query+strings.ReplaceAll(key, ",", " DESC,")+" DESC")
		values = append(values, behind...)
	}
	return values
}

// values returns the rows of a query as they are stored, up to one that can't be
// read.
func (r *Registry) values(ctx context.Context, query string) (all [][]any, err error) {
	found, err := r.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	for found.Next() {
		row := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := found.Scan(targets...); err != nil {
			return all, err
		}
		all = append(all, row)
	}
	return all, found.Err()
}

// restore writes what was salvaged of the teams into a new database and mends what
// hangs loose.
func (t *Tx) restore(ctx context.Context, s *Salvaged) error {
	for _, r := range s.teams {
		marks := strings.TrimSuffix(strings.Repeat("?, ", strings.Count(r.columns, ",")+1), ", ")
		for _, row := range r.values {
			// A row that breaks a rule of the schema counts as unreadable.
			if _, err := t.tx.ExecContext(ctx, fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", r.table, r.columns, marks), row...); err != nil {
				return fmt.Errorf("restore %s: %w", r.table, err)
			}
		}
	}
	if len(s.teams) == 0 {
		return nil
	}
	queries := mending
	if !s.receipts {
		queries = append(slices.Clone(mending), withoutReceipts...)
	}
	for _, query := range queries {
		if _, err := t.tx.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("mend what was restored: %w", err)
		}
	}
	return nil
}

// mending keeps the restored rows of a team from waiting for ever for lost ones.
var mending = []string{
	// People lead a team that is known by its members only.
	`INSERT OR IGNORE INTO teams (name, created_ns)
		SELECT team, min(created_ns) FROM (
			SELECT team, created_ns FROM agents
			UNION ALL SELECT team, created_ns FROM tasks
			UNION ALL SELECT team, time_ns FROM messages)
		GROUP BY team`,
	`UPDATE tasks SET warning = 'A task that it waited for was lost' WHERE status = 'pending' AND EXISTS (
		SELECT 1 FROM task_deps d WHERE d.team = tasks.team AND d.n = tasks.n
			AND NOT EXISTS (SELECT 1 FROM tasks o WHERE o.team = d.team AND o.n = d.needs))`,
	`DELETE FROM task_deps WHERE NOT EXISTS (SELECT 1 FROM tasks o WHERE o.team = task_deps.team AND o.n = task_deps.n)
		OR NOT EXISTS (SELECT 1 FROM tasks o WHERE o.team = task_deps.team AND o.n = task_deps.needs)`,
}

// withoutReceipts is what the migration does to messages that have no receipts.
var withoutReceipts = []string{
	"UPDATE messages SET brought = 'read', brought_ns = read_ns WHERE read_ns <> 0",
	"UPDATE messages SET quiet = 1 WHERE read_ns = 0",
}
