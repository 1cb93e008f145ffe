package registry

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func appendAll(t *testing.T, r *Registry, events ...Event) int {
	t.Helper()
	added := 0
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) (err error) {
		added, err = tx.Append(ctx, events...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func allEvents(t *testing.T, r *Registry) []Event {
	t.Helper()
	events, err := r.Events(t.Context(), EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestEvents(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	events := []Event{
		{Time: at(10), ID: "1", Worker: "a", Kind: "SPAWNED"},
		{Time: at(30), ID: "2", Worker: "b", Kind: "SPAWNED"},
		{Time: at(20), ID: "1", Worker: "a", Kind: "EXITED", Text: "success", Final: true},
		{Time: at(40), ID: "3", Worker: "a", Kind: "SPAWNED", Previous: "1"},
	}
	if n := appendAll(t, r, events...); n != 4 {
		t.Errorf("added %d", n)
	}
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	two, none := 2, 0
	for what, c := range map[string]struct {
		query EventQuery
		want  []Event
	}{
		"all":             {EventQuery{}, events},
		"by name":         {EventQuery{Worker: "a"}, []Event{events[0], events[2], events[3]}},
		"by id":           {EventQuery{Worker: "3"}, events[3:]},
		"since":           {EventQuery{Since: at(20)}, events[1:]},
		"after":           {EventQuery{After: 2}, events[2:]},
		"last":            {EventQuery{Last: &two}, events[2:]},
		"last of one":     {EventQuery{Last: &two, Worker: "a"}, events[2:]},
		"none":            {EventQuery{Last: &none}, nil},
		"no worker":       {EventQuery{Worker: "c"}, nil},
		"an ill-natured":  {EventQuery{Worker: "' OR 1=1 --"}, nil},
		"since and after": {EventQuery{Since: at(25), After: 3}, events[3:]},
	} {
		got, err := r.Events(t.Context(), c.query)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
		}
	}
	if seq, err := r.LastEvent(t.Context()); err != nil || seq != 4 {
		t.Errorf("last %d, %v", seq, err)
	}
}

// A worker ends once, whichever process says so; events that are not its end may be repeated.
func TestOneEnd(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	end := func(id string, kind EventKind) Event { return Event{ID: id, Worker: "a", Kind: kind, Final: true} }
	if n := appendAll(t, r, end("1", "KILLED"), end("1", "EXITED"), end("2", "EXITED"), Event{ID: "1", Worker: "a", Kind: "CLEANED"}); n != 3 {
		t.Errorf("added %d", n)
	}
	if n := appendAll(t, r, end("1", "EXITED"), end("2", "DIED")); n != 0 {
		t.Errorf("added %d later", n)
	}
	var got []string
	for _, e := range allEvents(t, r) {
		got = append(got, e.ID+" "+string(e.Kind))
	}
	if diff := cmp.Diff([]string{"1 KILLED", "2 EXITED", "1 CLEANED"}, got); diff != "" {
		t.Error(diff)
	}
}

// The changes of an end are written only into a record that has not changed meanwhile.
func TestFinish(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	running := func(name string, change func(*Record)) Record {
		rec := full()
		rec.ID, rec.Name, rec.State, rec.Completion, rec.Restarts = "id-"+name, name, Running, nil, 2
		change(&rec)
		return rec
	}
	as := running("as", func(*Record) {})
	insert(t, r, as,
		running("said", func(r *Record) { r.Completion = full().Completion }),
		running("restarted", func(r *Record) { r.Restarts = 3 }),
		running("stopped", func(r *Record) { r.State = Stopped }))
	for name, want := range map[string]bool{"as": true, "said": false, "restarted": false, "stopped": false, "ghost": false} {
		before := readAll(t, r)
		end := running(name, func(r *Record) { r.Exit, r.Reason = full().Exit, "over" })
		end.Exit.Code = 9
		err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
			got, err := tx.Finish(ctx, &end)
			if got != want {
				t.Errorf("%s: %v", name, got)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, readAll(t, r)); !want && diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
	got, err := r.Get(t.Context(), as.ID)
	as.State, as.Step, as.PID, as.Exit, as.Reason = Stopped, "", 0, full().Exit, "over"
	as.Exit.Code = 9
	if diff := cmp.Diff(as, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if n, err := r.CountRunning(t.Context(), as.Backend); err != nil || n != 2 {
		t.Errorf("%d run, %v", n, err)
	}
}
