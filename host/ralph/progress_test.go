package ralph

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestFingerprint changes with files and commits, and with nothing else.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "sub")
	do := func(do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		do(func() error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) })
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Dir, cmd.Env = top, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	do(func() error { return os.Mkdir(dir, 0o700) })
	write("a", "one")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	before := fingerprint(dir)
	same := func(what string, want bool) {
		t.Helper()
		after := fingerprint(dir)
		if after == "" || (after == before) != want {
			t.Errorf("%s: %q, before %q, want the same: %v", what, after, before, want)
		}
		before = after
	}
	same("nothing", true)
	git("status")
	same("a query of git", true)
	write("b", "two")
	same("a new file", false)
	git("add", ".")
	git("commit", "-qm", "second")
	same("a commit above the directory", false)
	do(func() error { return os.Chmod(filepath.Join(dir, "b"), 0o700) })
	same("a mode", false)
	do(func() error { return os.Remove(filepath.Join(dir, "b")) })
	same("a file less", false)
	write("tmp", "x")
	do(func() error { return os.Remove(filepath.Join(dir, "tmp")) })
	same("a temporary file", true)
	git("worktree", "add", "-q", "-b", "x", filepath.Join(top, "sub", "tree"))
	before = fingerprint(filepath.Join(dir, "tree"))
	cmd := exec.Command("git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "third")
	cmd.Dir = filepath.Join(dir, "tree")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after := fingerprint(filepath.Join(dir, "tree")); after == before || after == "" {
		t.Errorf("a commit in a worktree: %q, before %q", after, before)
	}
	if got := fingerprint(filepath.Join(dir, "missing")); got != "" {
		t.Errorf("no directory: %q", got)
	}
}

func TestSameAnswers(t *testing.T) {
	t.Parallel()
	const answer = "● All tasks of the list are done, there is none left.\n✻ Cooked for 5s · done 2:21 PM"
	for other, want := range map[string]bool{
		answer: true,
		"● All tasks of the list are done, there is none left.\n✻ Churned for 18s · done 11:03 AM": true,
		"● I have moved the parser into a package of its own.\n✻ Cooked for 5s · done 2:21 PM":     false,
		"": false,
	} {
		if got := alike(wordsOf(answer), wordsOf(other)); got != want {
			t.Errorf("%q: %v, want %v", other, got, want)
		}
	}
	if !alike(wordsOf(""), wordsOf("12 · 3")) {
		t.Error("two answers without words differ")
	}
}

func TestProgressIsCounted(t *testing.T) {
	t.Parallel()
	p, st := progress{files: "f"}, State{NoProgress: 3}
	for i, tt := range []struct {
		files, answer string
		out           outcome
		want          int
	}{
		{"f", "done", outcome{ending: idle}, 1},
		{"f", "done", outcome{ending: exited, exit: "0"}, 2},
		{"f", "done", outcome{ending: exited, exit: "1"}, 2}, // it failed
		{"f", "something else", outcome{ending: idle}, 1},
		{"g", "something else", outcome{ending: idle}, 0},
		{"g", "something else", outcome{ending: inactive}, 1},
		{"", "something else", outcome{ending: idle}, 0}, // unknown
		{"", "something else", outcome{ending: idle}, 0},
		{"g", "something else", outcome{ending: idle}, 0},
		{"g", "something else", outcome{ending: idle}, 1},
		{"g", "something else", outcome{ending: compacted}, 1},
		{"g", "something else", outcome{ending: idle}, 2},
		{"g", "something else", outcome{ending: idle}, 3},
	} {
		tt.out.still, tt.out.same = p.step(tt.files, tt.answer)
		st.count(&tt.out)
		if st.Still != tt.want || st.stuck() != (tt.want >= 3) {
			t.Errorf("%d: %d iterations without progress, want %d", i, st.Still, tt.want)
		}
	}
}

// TestNoProgress has a loop stop, and continue when a person says so.
func TestNoProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir = t.TempDir() // the agent counts its runs in the other one
	r.create(func(st *State) { st.NoProgress, st.MaxIterations = 2, 4 }, "say=nothing_left")
	p := r.start()
	r.until("the pause", func() bool { return r.state().Status == Paused })
	if st := r.state(); st.ExitReason != ReasonProgress || st.Iteration != 2 || st.Still != 2 {
		t.Errorf("%+v", st)
	}
	_, err := r.store.Change(t.Context(), "w", func(st *State) error {
		st.Status, st.ExitReason, st.Still = Running, "", 0
		return nil
	})
	r.check(err)
	if code := p.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	log := strings.Join(r.events(), "\n")
	if !strings.Contains(log, "[PAUSE] the last 2 iterations left no commit, changed no file, and had the same answer reason=no_progress\n[RESUME] loop resumed\n[START] iteration 3/4") {
		t.Errorf("the log:\n%s", log)
	}
	// The last iteration has no pause behind it, and is not silent either.
	if !strings.Contains(log, "[WARN] the last 2 iterations left no commit") || !strings.Contains(log, "reason=max_iterations") {
		t.Errorf("the log:\n%s", log)
	}
}

// TestResumedAtOnce resumes a loop after it has written why it stops, and before it waits for
// that: the log has both.
func TestResumedAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stops, resumed string
		state                func(*State)
		out                  outcome
	}{
		{
			"pause", "[PAUSE] the last iteration left no commit and changed no file reason=no_progress", "[RESUME] loop resumed",
			func(st *State) { st.NoProgress = 1 },
			outcome{ending: exited, exit: "0", still: true},
		},
		{
			"limit", "[LIMIT] iteration 1: usage limit, waiting until ", "[RESUME] continuing after the usage limit",
			func(*State) {},
			outcome{ending: exited, exit: "1", failure: "usage limit reached, resets in 2h"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.create(tt.state)
			out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			r.check(err)
			defer out.Close()
			l := &loop{
				Options: Options{Store: r.store, Name: "w", unit: time.Second}, begun: true,
				console: &console{out: out, typed: make(chan []byte)},
				signals: &signals{children: make(chan os.Signal), ends: make(chan os.Signal, 1)},
			}
			_, more, err := l.record(t.Context(), tt.out)
			if r.check(err); !more {
				t.Fatal("the loop has ended")
			}
			if st := r.state(); st.Status != Paused && st.LimitUntil.IsZero() {
				t.Fatalf("the loop does not stop: %+v", st)
			}
			_, err = r.store.Change(t.Context(), "w", func(st *State) error {
				st.Status, st.ExitReason, st.Still = Running, "", 0
				st.NoLimit()
				return nil
			})
			r.check(err)
			r.check(l.waitLimit(t.Context()))
			if st, _, err := l.next(t.Context()); err != nil || st.Status != Running {
				t.Fatalf("%s, %v", st.Status, err)
			}
			log := r.events()
			if n := len(log); n < 2 || !strings.HasPrefix(log[n-2], tt.stops) || log[n-1] != tt.resumed {
				t.Errorf("the log: %q", log)
			}
		})
	}
}

func TestMaxTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(func(st *State) { st.MaxTime, st.TimeUsed = Seconds(time.Hour), Seconds(time.Hour-time.Millisecond) })
	if code := r.start().wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	st := r.state()
	if st.Status != Stopped || st.ExitReason != ReasonTime || st.Iteration != 1 || st.Open() {
		t.Errorf("%+v", st)
	}
	if log := r.events(); !slices.Contains(log, "[DONE] 1h 0m 0s of 1h 0m 0s used reason=max_time") {
		t.Errorf("the log: %q", log)
	}
}

// TestMaxPerHour waits until an hour after the first of the last iterations.
func TestMaxPerHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := State{MaxPerHour: 2}
		begun := time.Now()
		for _, after := range []time.Duration{0, 10 * time.Minute, 20 * time.Minute, time.Hour, time.Hour + time.Minute, 70 * time.Minute} {
			time.Sleep(after - time.Since(begun)) // of the bubble
			until, ok := st.mayStart(time.Now())
			want := map[time.Duration]time.Duration{20 * time.Minute: time.Hour, time.Hour + time.Minute: 70 * time.Minute}[after]
			if got := until.Sub(begun); ok != (want == 0) || !ok && got != want {
				t.Errorf("after %v: %v, until %v, want %v", after, ok, got, want)
			}
		}
	})
}
