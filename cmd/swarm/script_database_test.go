package main_test

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// cmdSQL changes a database as a swarm of another version does, or reads it.
func cmdSQL(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "sql FILE QUERY")
	db, err := sql.Open("sqlite", ts.MkAbs(args[0])+"?_busy_timeout=20000")
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	rows, err := db.QueryContext(worldOf(ts).t.Context(), args[1])
	ts.Check(err)
	defer func() { ts.Check(rows.Close()) }()
	columns, err := rows.Columns()
	ts.Check(err)
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		ts.Check(rows.Scan(targets...))
		fields := make([]string, len(values))
		for i, v := range values {
			fields[i] = fmt.Sprint(v)
		}
		_, err := fmt.Fprintln(ts.Stdout(), strings.Join(fields, "\t"))
		ts.Check(err)
	}
	ts.Check(rows.Err())
}
