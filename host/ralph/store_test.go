package ralph

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if _, err := r.store.Load("w"); !errors.Is(err, ErrNoState) || err.Error() != "no ralph state found for worker 'w'" {
		t.Errorf("without a state: %v", err)
	}
	r.create(func(st *State) { st.Inactivity, st.Durations = Seconds(1500*time.Millisecond), []Seconds{} }, "a", "b")
	st := r.state()
	if st.Version != Version || st.Inactivity != Seconds(1500*time.Millisecond) || !st.Open() || st.Complete() {
		t.Errorf("got %+v", st)
	}
	if names, err := r.store.Names(); err != nil || !slices.Equal(names, []string{"w"}) {
		t.Errorf("names %v, %v", names, err)
	}
	for path, mode := range map[string]os.FileMode{r.store.Dir("w"): 0o700, filepath.Join(r.store.Dir("w"), stateFile): 0o600} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, fi.Mode(), err)
		}
	}
	refused := errors.New("refused")
	if _, err := r.store.Change(t.Context(), "w", func(st *State) error { st.Iteration = 9; return refused }); !errors.Is(err, refused) {
		t.Errorf("a refused change: %v", err)
	}
	if diff := cmp.Diff(st, r.state()); diff != "" {
		t.Errorf("a refused change changed (-want +got):\n%s", diff)
	}
	for _, want := range []bool{true, false} {
		if removed, err := r.store.Remove(t.Context(), "w"); err != nil || removed != want {
			t.Errorf("removed %v, %v", removed, err)
		}
	}
	if _, err := r.store.Change(t.Context(), "w", func(*State) error { return nil }); !errors.Is(err, ErrNoState) {
		t.Errorf("a change after the removal: %v", err)
	}
}

// An invalid name leads nowhere.
func TestStoreNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(nil)
	for _, name := range []string{"", ".", "..", "../s", "a/b"} {
		if _, err := r.store.Load(name); !errors.Is(err, ErrNoState) {
			t.Errorf("load %q: %v", name, err)
		}
		if removed, err := r.store.Remove(t.Context(), name); removed || err != nil {
			t.Errorf("remove %q: %v, %v", name, removed, err)
		}
	}
	r.state()
}

// A loop whose worker could not be started leaves what was there before.
func TestCreateIsUndone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	refused := errors.New("refused")
	fresh := State{Name: "w", Command: []string{"new"}, PromptFile: "/p", Iteration: 1, Status: Running}
	create := func() {
		t.Helper()
		if err := r.store.Create(t.Context(), fresh, func() error { r.state(); return refused }); !errors.Is(err, refused) {
			t.Errorf("got %v", err)
		}
	}
	create()
	if _, err := os.Stat(r.store.Dir("w")); err == nil {
		t.Error("the folder is left")
	}
	r.create(nil, "old")
	before := r.state()
	create()
	if diff := cmp.Diff(before, r.state()); diff != "" {
		t.Errorf("the old state (-want +got):\n%s", diff)
	}
}

// Everyone's change counts.
func TestChangesTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(nil)
	const n = 20
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := r.store.Change(t.Context(), "w", func(st *State) error { st.TotalFailures++; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := r.state().TotalFailures; got != n {
		t.Errorf("%d changes of %d", got, n)
	}
}

func TestDamagedState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(nil)
	path := filepath.Join(r.store.Dir("w"), stateFile)
	good, err := os.ReadFile(path)
	r.check(err)
	for name, text := range map[string]string{
		"empty":   "",
		"half":    string(good[:len(good)/2]),
		"newer":   strings.Replace(string(good), `"version": 1`, `"version": 2`, 1),
		"other's": strings.Replace(string(good), `"worker_name": "w"`, `"worker_name": "x"`, 1),
		"little":  `{"version": 1, "worker_name": "w"}`,
	} {
		r.check(os.WriteFile(path, []byte(text), 0o600))
		if _, err := r.store.Load("w"); !errors.Is(err, ErrState) || !strings.HasPrefix(err.Error(), "corrupt ralph state for 'w': ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.store.Change(t.Context(), "w", func(*State) error { return nil }); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: it was written over", name)
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	st := State{Iteration: 1, MaxIterations: 2}
	now := time.Now()
	for range 2 {
		// The second time as if the first was killed.
		st.begin(now)
		if st.Iteration != 1 || !st.Open() || st.Complete() {
			t.Errorf("begun: %+v", st)
		}
	}
	st.close(now.Add(time.Minute))
	st.begin(now)
	if st.Iteration != 2 {
		t.Errorf("the second: %+v", st)
	}
	st.close(now.Add(3 * time.Minute))
	if !st.Complete() || st.Average() != 2*time.Minute {
		t.Errorf("at the end: %+v, average %v", st, st.Average())
	}
	for range 2 * keptDurations {
		st.begin(now)
		st.close(now)
	}
	if len(st.Durations) != keptDurations || st.Average() != 0 {
		t.Errorf("%d durations, average %v", len(st.Durations), st.Average())
	}
}

func TestBackOff(t *testing.T) {
	t.Parallel()
	for k, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 9: 256 * time.Second, 10: 300 * time.Second, 1000: 300 * time.Second,
	} {
		if got := backOff(k, time.Second); got != want {
			t.Errorf("after %d: %v", k, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", 312 * time.Second: "5m 12s", time.Hour: "1h 0m 0s",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%v is %s", d, got)
		}
	}
}

func TestTailAndFollow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(nil)
	log := func(text string) { r.check(r.store.append("w", eventStart, text, time.Now())) }
	for _, text := range []string{"one", "two\nlines", "three"} {
		log(text)
	}
	for n, want := range map[int]int{-1: 3, 0: 0, 1: 1, 2: 2, 9: 3} {
		if lines, err := r.store.Tail("w", n); err != nil || len(lines) != want {
			t.Errorf("the last %d are %q, %v", n, lines, err)
		}
	}
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() {
		ended <- r.store.Follow(t.Context(), "w", 2, nil, nil, func(line string) error {
			_, text, _ := strings.Cut(line, "] ")
			lines <- text
			return nil
		})
		close(lines)
	}()
	next := func(want string) {
		t.Helper()
		if got := <-lines; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	next("two lines")
	next("three")
	log("four")
	next("four")
	log("five")
	r.set(Stopped)
	next("five")
	if more, ok := <-lines; ok {
		t.Errorf("then %q", more)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.set(Running)
	if err := r.store.Follow(ctx, "w", 0, nil, nil, func(string) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// The log of a loop begins anew with each loop of the name, and one that could not be started leaves
// the log of the loop before.
func TestLogOfLoopBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	log := func(text string) { r.check(r.store.append("w", eventStart, text, time.Now())) }
	follow := func(n int) []string {
		t.Helper()
		gone := make(chan struct{})
		close(gone)
		var lines []string
		r.check(r.store.Follow(t.Context(), "w", n, gone, nil, func(line string) error {
			lines = append(lines, line)
			return nil
		}))
		return lines
	}
	want := func(texts ...string) {
		t.Helper()
		lines, err := r.store.Tail("w", -1)
		if len(texts) == 0 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without a log: %v", err)
		}
		for how, lines := range map[string][]string{"tail": lines, "follow all": follow(-1), "follow the last": follow(9)} {
			same := func(line, text string) bool { return strings.HasSuffix(line, "] "+text) }
			if !slices.EqualFunc(lines, texts, same) {
				t.Errorf("%s: got %q, want %q", how, lines, texts)
			}
		}
	}
	r.create(nil)
	want()
	log("one")
	want("one")
	refused := errors.New("refused")
	if err := r.store.Create(t.Context(), r.state(), func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	want("one")
	r.create(nil)
	want()
	log("two")
	want("two")
	// A file that was made shorter is shown whole.
	r.check(os.Truncate(r.store.LogPath("w"), 0))
	log("")
	want("")
}

// A loop that is gone leaves no file of a lock, not even of those whose holders were
// killed. The lock of one that still runs stays, and goes with it.
func TestLocksGo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	locks := func(want ...string) {
		t.Helper()
		entries, err := os.ReadDir(r.store.lockPath(""))
		r.check(err)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) {
			t.Errorf("locks %q, want %q", got, want)
		}
	}
	remove := func() {
		t.Helper()
		if removed, err := r.store.Remove(t.Context(), "w"); err != nil || !removed {
			t.Errorf("removed %v, %v", removed, err)
		}
	}
	start, err := r.store.Claim(t.Context(), "w")
	r.check(err)
	r.create(nil)
	_, err = r.store.Change(t.Context(), "w", func(*State) error { return nil })
	r.check(err)
	locks("ralph-start-w")
	start()
	locks()
	for _, file := range []string{startLock, stateLock, loopLock} {
		r.check(os.WriteFile(r.store.lockPath(file+"w"), nil, 0o600)) // as of one that was killed
	}
	remove()
	locks()

	r.create(nil)
	release, err := r.store.own("w")
	r.check(err)
	remove()
	locks("ralph-loop-w")
	if _, err := r.store.own("w"); !errors.Is(err, ErrOwned) {
		t.Errorf("owned twice: %v", err)
	}
	release()
	locks()
}
