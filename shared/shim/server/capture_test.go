//go:build linux

package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// screen is what the capture program wrote, and whether it did.
func (s *shim) screen() (string, bool) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, rundir.ScreenFile))
	if errors.Is(err, os.ErrNotExist) {
		return "", false
	}
	must(s.t, err)
	return string(b), true
}

func TestCapture(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, program string
		want          string
		taken         bool
	}{
		{"taken", `printf 'one\ntwo\n'; [ -n "$SWARM_SHIM" ] && [ "$TMUX_PANE" = %7 ] && echo here`, "one\ntwo\nhere\n", true},
		{"empty", `:`, "", true},
		{"fails", `echo half; exit 1`, "", false},
		{"hangs", `echo half; sleep 999`, "", false},
		{"leaves one behind", `echo half; setsid sleep 2 >&- & exit 0`, "half\n", true},
		{"much", `exec head -c 5000000 /dev/zero`, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := launch("echo ready; while [ ! -e go ]; do sleep 0.02; done; exit 3")
			l.Capture = []string{"sh", "-c", tt.program}
			w := openWindow(t, l)
			w.shows("ready")
			began := time.Now()
			w.touch("go")
			st := w.end()
			if st.Code != 3 || st.Cause != "exited" {
				t.Errorf("status %+v", st)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the end took %v", took)
			}
			if got, taken := w.screen(); got != tt.want || taken != tt.taken {
				t.Errorf("%d bytes, %v", len(got), taken)
			}
		})
	}
}

// The picture is taken once the terminal says that it has shown everything.
func TestCaptureWaitsForTheTerminal(t *testing.T) {
	t.Parallel()
	l := launch("echo last words; exit 0")
	l.Capture = []string{"sh", "-c", "echo taken"}
	w := openWindow(t, l)
	all := w.shows("\x1b[5n")
	if !strings.Contains(all, "last words") {
		t.Errorf("the terminal was asked before it was shown everything: %q", all)
	}
	w.keys("\x1b[0n")
	w.end()
	if got, _ := w.screen(); got != "taken\n" {
		t.Errorf("got %q", got)
	}
}

// A window that is gone shows nothing; a kill leaves it there.
func TestCaptureAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		end   func(*window)
		taken bool
	}{
		{"kill", func(w *window) { w.kill("SIGTERM", limit, true) }, true},
		{"hangup", func(w *window) {
			w.pane.Close()
			must(w.t, w.master.Close())
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := launch("echo ready; exec sleep 999")
			l.Capture = []string{"sh", "-c", "echo taken"}
			w := openWindow(t, l)
			w.shows("ready")
			tt.end(w)
			w.end()
			if _, taken := w.screen(); taken != tt.taken {
				t.Errorf("taken: %v", taken)
			}
		})
	}
}
