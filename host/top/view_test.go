package top

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
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
func crowd() []host.Worker {
	return []host.Worker{
		running("api-server", func(w *host.Worker) { w.Tags = []string{"api"} }),
		running("a-worker-with-a-name-of-sixty-four-letters-which-is-very-long-x", func(w *host.Worker) { w.Tags = []string{"api"} }),
		agent("fix-login", profile.Blocked), agent("refactor", profile.Working),
		ended("build", 3, swarm.CauseExited), ended("tests", 0, swarm.CauseExited), ended("flaky", 1, swarm.CauseCrashLoop),
		{ID: "id-gone", Name: "gone", Status: host.StatusLost},
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
