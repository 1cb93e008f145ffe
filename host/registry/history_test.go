package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// many adds n events of three workers, one a second.
func many(t *testing.T, dir string, n int) {
	t.Helper()
	raw(t, dir, fmt.Sprintf(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < %d)
		INSERT INTO events (time_ns, worker_id, worker, kind, text) SELECT i * 1000000000, 'id-' || (i %% 3), 'w' || (i %% 3), 'IDLE', 'text of it' FROM c`, n))
}

// Event by event the same events come as all at once, for queries of any kind.
func TestEachEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	const n = 3*eventPage + 7
	many(t, dir, n)
	for _, worker := range []string{"", "w1", "id-2", "ghost"} {
		for _, since := range []time.Time{{}, time.Unix(eventPage, 0), time.Unix(2*n, 0)} {
			for _, after := range []int64{0, eventPage, n + 5} {
				for _, last := range []int{-1, 0, 10, eventPage + 1, 2 * n} {
					for _, first := range []int{0, 1, eventPage + 3} {
						q := EventQuery{Worker: worker, Since: since, After: after, First: first}
						if last >= 0 {
							q.Last = &last
						}
						want, err := r.Events(t.Context(), q)
						if err != nil {
							t.Fatal(err)
						}
						var got []Event
						err = r.EachEvent(t.Context(), q, func(e Event) error {
							got = append(got, e)
							return nil
						})
						if diff := cmp.Diff(want, got); diff != "" || err != nil {
							t.Fatalf("worker %q, since %s, after %d, last %d, first %d: %v\n%s", worker, since, after, last, first, err, diff)
						}
					}
				}
			}
		}
	}
	enough := errors.New("enough")
	if err := r.EachEvent(t.Context(), EventQuery{}, func(Event) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// The memory for many events is that for a few, for every way to select them.
func TestEachEventMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	const n = 60000
	many(t, dir, n)
	half := n / 2
	for what, q := range map[string]EventQuery{
		"all": {}, "of a worker": {Worker: "w1"}, "of a time": {Since: time.Unix(n/2, 0)}, "the last ones": {Last: &half},
	} {
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		most, seen := uint64(0), 0
		err := r.EachEvent(t.Context(), q, func(Event) error {
			if seen++; seen%5000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
			return nil
		})
		if grown := int64(most) - int64(before.HeapAlloc); err != nil || seen < n/3 || grown > 4<<20 {
			t.Errorf("%s: %d events, %d KiB more: %v", what, seen, grown>>10, err)
		}
	}
}

// Older events go, but for the ends of recorded workers and of those with the
// ids, and the newest event of each kind of a recorded worker. The numbers of events are not
// given again.
func TestRemoveEvents(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	insert(t, r, bare("here"))
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	here := bare("here").ID
	add := func(seconds int64, id, kind string, final bool) {
		appendAll(t, r, Event{Time: at(seconds), ID: id, Worker: id, Kind: EventKind(kind), Final: final})
	}
	add(1, here, "SPAWNED", false)   // 1 stays: the newest of its kind
	add(2, here, "IDLE", false)      // 2
	add(3, "gone", "SPAWNED", false) // 3
	add(4, here, "IDLE", false)      // 4 stays
	add(5, "gone", "EXITED", true)   // 5
	add(6, here, "EXITED", true)     // 6 stays
	add(7, "left", "EXITED", true)   // 7 stays: its run directory is there
	add(50, "gone2", "SPAWNED", false)
	add(8, "late", "EXITED", true) // 9 was written late
	removed, err := r.RemoveEvents(t.Context(), at(10), []string{"left"})
	if removed != 4 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	var seqs []int64
	for _, e := range allEvents(t, r) {
		seqs = append(seqs, e.Seq)
	}
	if diff := cmp.Diff([]int64{1, 4, 6, 7, 8}, seqs); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if cut, err := r.RemovedEvents(t.Context()); cut != 9 || err != nil {
		t.Errorf("cut up to %d, %v", cut, err)
	}
	if last, err := r.LastEvent(t.Context()); last != 9 || err != nil {
		t.Errorf("last %d, %v", last, err)
	}
	add(60, "new", "SPAWNED", false)
	if events := allEvents(t, r); events[len(events)-1].Seq != 10 {
		t.Errorf("the next event has number %d", events[len(events)-1].Seq)
	}
	if removed, err := r.RemoveEvents(t.Context(), at(10), nil); removed != 1 || err != nil {
		t.Errorf("without the ids: removed %d, %v", removed, err)
	}
}

// Many are removed in several changes, and the file becomes smaller.
func TestRemoveManyEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	const n = 2*removeAtOnce + 5
	many(t, dir, n)
	raw(t, dir, "UPDATE events SET text = printf('%1000s', 'x')")
	before, err := os.Stat(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := r.RemoveEvents(t.Context(), time.Unix(n+1, 0), nil); removed != n || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	if err := r.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	after, err := os.Stat(filepath.Join(dir, File))
	if err != nil || after.Size() > before.Size()/10 {
		t.Errorf("%d bytes, before %d: %v", after.Size(), before.Size(), err)
	}
}
