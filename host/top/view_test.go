package top

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// golden compares what the terminal shows with testdata/NAME.txt.
func (r *rig) golden(name string) {
	r.Helper()
	var b strings.Builder
	for line := range strings.Lines(r.text()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("UPDATE_FIXTURE") != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			r.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		r.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// crowd is one worker of each urgency, and some more.
func crowd() []worker.Worker {
	return []worker.Worker{
		runningWorker("api-server", func(w *worker.Worker) { w.Tags = []string{"api"} }),
		runningWorker("a-worker-with-a-name-of-sixty-four-letters-which-is-very-long-x", func(w *worker.Worker) { w.Tags = []string{"api"} }),
		agent("fix-login", profile.Blocked), agent("refactor", profile.Working),
		ended("build", 3, swarm.CauseExited), ended("tests", 0, swarm.CauseExited), ended("flaky", 1, swarm.CauseCrashLoop),
		{Spec: registry.Spec{ID: "id-gone", Name: "gone"}, Status: worker.StatusLost},
	}
}

// TestViews compares whole screens with golden texts; UPDATE_FIXTURE=1 writes them.
func TestViews(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"80x24": {80, 24}, "120x40": {120, 40}} {
		r := newRig(t, size[0], size[1], crowd()...)
		r.pane.picture, r.pane.shows = []string{"> fix the login", "", "● Bash(make deploy)"}, true
		r.golden("list-" + name)
		r.press("b")
		r.golden("groups-" + name)
		r.press("b", "b", "b", "b", "?")
		r.golden("help-" + name)
		r.press("esc", ":")
		r.types("k")
		r.golden("palette-" + name)
		r.press("esc", "y")
		r.golden("answer-" + name)
		r.press("esc", "G", "g", "down", "down", "down", "down", "down", "down", "x")
		r.golden("kill-" + name)
	}
}

// TestWide: a wide terminal shows tags, branches and changes.
func TestWide(t *testing.T) {
	t.Parallel()
	r := newRig(t, 200, 50, crowd()...)
	r.run(r.compare())
	r.send(boardMsg(r.board))
	for _, want := range []string{"CHANGES TAGS BRANCH", `fix-login .* \+12 −3 +fix-login *│`, `api-server .* api +│`} {
		if text := r.text(); !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if r.compare() != nil {
		t.Error("worktrees are compared again at once")
	}
	r.send(sizeOf([2]int{80, 24}))
	if text := r.text(); strings.Contains(text, "BRANCH") {
		t.Errorf("a narrow one has columns without space:\n%s", text)
	}
}

// TestLongNames: a long name makes space for the states, of which none is cut.
func TestLongNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, ended("flaky", 1, swarm.CauseCrashLoop), runningWorker(strings.Repeat("x", 64)),
		runningWorker("waits", func(w *worker.Worker) {
			w.PID, w.Reason, w.Restart.When = 0, "restarting in 14s (exit status 1)", swarm.RestartAlways
		}))
	for _, want := range []string{"crash loop, 5m ", "restarting in 14s"} {
		if text := r.text(); !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestKillOfMany: the question about several workers has space for all that it says.
func TestKillOfMany(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, runningWorker(strings.Repeat("x", 64)), runningWorker("api"), runningWorker("web"))
	r.press("A", "x")
	want := `(?m)^ Kill 3 workers\? *\n   api, web, x{64} *\n   swarm kill api web x+…$`
	if text := r.text(); !regexp.MustCompile(want).MatchString(text) {
		t.Errorf("no %q in:\n%s", want, text)
	}
}

// TestCleanOfWorktree: the question reports the way to remove a worktree with changes.
func TestCleanOfWorktree(t *testing.T) {
	t.Parallel()
	w := ended("fix", 0, swarm.CauseExited)
	w.Workspace = &swarm.WorkspaceRef{Path: "/w/fix"}
	r := newRig(t, 80, 24, w)
	r.press("c")
	for _, want := range []string{"fix: its log is removed, and its workspace unless work would be lost", "--force-dirty in a shell saves the changes"} {
		if text := r.text(); !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestPart: a list that is longer than the screen says which part of it is shown.
func TestPart(t *testing.T) {
	t.Parallel()
	var ws []worker.Worker
	for i := range 41 {
		ws = append(ws, runningWorker("w"+strconv.Itoa(i)))
	}
	r := newRig(t, 80, 24, ws...)
	if text := r.text(); !strings.Contains(text, "─ 1-20 of 41 ─┼") {
		t.Errorf("it shows:\n%s", text)
	}
	r.press("G")
	if text := r.text(); !strings.Contains(text, "─ 22-41 of 41 ─┼") {
		t.Errorf("it shows:\n%s", text)
	}
	r.send(sizeOf([2]int{80, 50}))
	if text := r.text(); strings.Contains(text, " of 41") {
		t.Errorf("all fit, and it shows:\n%s", text)
	}
}

// TestWrapped: rows of a text begin at words.
func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		width, limit int
		want         []string
	}{
		{"", 5, 0, []string{""}},
		{"cannot send to 'old'", 10, 0, []string{"cannot", "send to", "'old'"}},
		{"cannot send to 'old'", 10, 2, []string{"cannot", "send to"}},
		{"in abcdefghij b", 4, 0, []string{"in", "abcd", "efgh", "ij b"}},
		{"/w/another/x-0", 8, 0, []string{"/w/", "another/", "x-0"}},
		{"  deep 12", 7, 0, []string{"  deep", "12"}},
	} {
		if diff := cmp.Diff(c.want, wrapped(c.text, c.width, c.limit)); diff != "" {
			t.Errorf("%q in %d (-want +got):\n%s", c.text, c.width, diff)
		}
	}
}

// TestEarlierLines: the first row of a log says where the earlier lines are.
func TestEarlierLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, 120, 24, runningWorker("api"))
	r.host.output = []swarm.Output{{Data: []byte(strings.Repeat("line\n", dash.LinesKept+10) + "line")}}
	r.chosen = tabLog
	r.send(boardMsg(r.board))
	r.send(followMsg("id-api"))
	for r.pane.total == 0 {
		<-r.outputChanged
		r.send(outputMsg{})
	}
	const want = "Earlier lines are left out. All of them: swarm logs api"
	if text := r.text(); strings.Contains(text, want) {
		t.Errorf("the last rows say it:\n%s", text)
	}
	r.scroll(-1 << 20)
	if text := r.text(); !strings.Contains(text, want) {
		t.Errorf("no line has the number of earlier lines:\n%s", text)
	}
}

// TestEmpty: without workers the dashboard says how to start one.
func TestEmpty(t *testing.T) {
	t.Parallel()
	newRig(t, 80, 24).golden("empty")
}

// TestPlain: in a locale without Unicode all is ASCII.
func TestPlain(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, crowd()...)
	r.plain = true
	r.golden("plain-80x24")
	for _, key := range []string{"?", "esc", ":", "esc", "y", "esc", "b"} {
		r.press(key)
		if text := r.text(); !isPlain(strings.ReplaceAll(text, "\n", "")) {
			t.Errorf("after %s there are characters beyond ASCII:\n%s", key, text)
		}
	}
}

// TestSizes: at any size there are as many rows as the terminal has, none of which is too
// long, in every mode.
func TestSizes(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, crowd()...)
	for _, size := range [][2]int{{80, 24}, {120, 40}, {300, 100}, {40, 10}, {24, 8}, {60, 8}, {10, 3}, {1, 1}} {
		r.send(sizeOf(size))
		for _, keys := range [][]string{nil, {"?"}, {"esc", ":"}, {"esc", "y"}, {"esc", "/"}, {"esc", "z"}, {"z", "b"}, {"G", "x"}, {"n"}} {
			r.press(keys...)
			r.check(size)
		}
	}
}

// check fails if the view does not fit.
func (r *rig) check(size [2]int) {
	r.Helper()
	lines := strings.Split(r.View().Content, "\n")
	if len(lines) > max(1, size[1]) {
		r.Errorf("%d rows at %v:\n%s", len(lines), size, r.text())
	}
	for _, line := range lines {
		if n := widthOf(line); n > size[0] && size[0] >= minWidth {
			r.Errorf("a row of %d cells at %v: %q", n, size, line)
		}
	}
}
