package registry

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The queries of calls whose cost must not depend on the number of workers never scan a
// whole table.
func TestQueriesSeek(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	last := 1
	selecting := func(q Query) string {
		where, _ := q.where()
		return "SELECT " + columns + " FROM workers" + where + " ORDER BY seq"
	}
	events := func(q EventQuery) string {
		query, _ := q.query()
		return query
	}
	for what, query := range map[string]string{
		"one worker":              selecting(Query{Names: []string{"a"}}),
		"some workers":            selecting(Query{Names: []string{"a", "b", "c"}}),
		"interrupted spawns":      selecting(Query{State: Starting, Backend: "b"}),
		"running of a backend":    selecting(Query{State: Running, Backend: "b"}),
		"by id":                   getOne,
		"running handles":         "SELECT id, handle_version, handle FROM workers" + runningOf,
		"how many run":            "SELECT count(*) FROM workers" + runningOf,
		"the next retention":      nextRetention,
		"the next end":            nextEnd,
		"expired":                 "SELECT " + columns + " FROM workers" + allExpired + " ORDER BY seq",
		"events of a worker":      events(EventQuery{Worker: "a"}),
		"last event of a worker":  events(EventQuery{Worker: "a", Last: &last}),
		"new events of a worker":  events(EventQuery{Worker: "a", After: 7}),
		"events since":            events(EventQuery{Worker: "a", Since: time.Unix(1, 0)}),
		"new events":              events(EventQuery{After: 7}),
		"some new events":         events(EventQuery{After: 7, First: 3}),
		"a page of a worker":      events(EventQuery{Worker: "a", After: 7, First: 3}),
		"a page since":            events(EventQuery{Worker: "a", Since: time.Unix(1, 0), First: 3}),
		"the end of a worker":     endOf,
		"is a worker known":       isKnown,
		"agents without a worker": anyStranded,
		"waiting messages":        countMessages,
		"waiting tasks":           countTasks,
		"a waiting request":       anyRequest,
		"members to wake":         toWakeOfTeam,
	} {
		args := slices.Repeat([]any{"x"}, strings.Count(query, "?"))
		if strings.Contains(query, "?1") {
			args = args[:1]
		}
		rows, err := r.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			// Of the agents only those without an end are in that index.
			if strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "CONSTANT ROW") &&
				!strings.Contains(step, "subquery") && !strings.Contains(step, "INDEX agents_live") {
				t.Errorf("%s: %s\n%s", what, step, query)
			}
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
		rows.Close()
	}
}
