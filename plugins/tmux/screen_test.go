package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// screen returns what the worker's terminal shows, or showed last.
func (w *worker) screen(lines int) swarm.Screen {
	w.t.Helper()
	s, err := w.backend.Screen(w.t.Context(), w.handle, swarm.ScreenOptions{Lines: lines})
	if err != nil {
		w.t.Fatal(err)
	}
	// These have a test of their own.
	s.Columns, s.Rows, s.Cursor = 0, 0, nil
	return s
}

// shows waits for the last line of the screen.
func (w *worker) shows(last string) {
	w.t.Helper()
	eventually(w.t, "the screen shows "+last, func() bool {
		s := w.screen(1)
		return len(s.Lines) == 1 && s.Lines[0] == last
	})
}

func (w *worker) wantScreen(lines int, want swarm.Screen) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.screen(lines)); diff != "" {
		w.t.Errorf("%d lines (-want +got):\n%s", lines, diff)
	}
}

// hasScreen reports whether there is a screen of the worker.
func (w *worker) hasScreen() bool {
	_, err := w.backend.Screen(w.t.Context(), w.handle, swarm.ScreenOptions{})
	return !errors.Is(err, swarm.ErrNotFound)
}

// painting writes colours, blanks, a line that is wrapped, and characters beyond ASCII.
const painting = `printf '\033[31mred\033[0m   \n\n'; printf '%0200d\n' 7; printf 'h\303\251llo \344\270\226\n'`

func painted(taken bool) swarm.Screen {
	return swarm.Screen{Lines: []string{"red", "", fmt.Sprintf("%0200d", 7), "héllo 世"}, Taken: taken}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", painting+`; exec sleep 999`)
	w.shows("héllo 世")
	w.wantScreen(0, painted(false))
	w.wantScreen(50, painted(false))
	w.wantScreen(2, swarm.Screen{Lines: painted(false).Lines[2:]})
	// The user looks at something else than the worker's screen.
	f.mustTmux("copy-mode", "-t", w.parts().Pane)
	w.wantScreen(0, painted(false))
	w.kill(gently)
	w.wantScreen(0, painted(true))
	w.wantScreen(2, swarm.Screen{Lines: painted(false).Lines[2:], Taken: true})
}

// TestScreenStyles: the styles of a screen come with its text, by a look at one and by a look
// at several.
func TestScreenStyles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	paint := `printf 'plain\n\033[31mred\n  on \033[0;2mdim\302\240\033[0m   \n\033[44m    \033[0m\n\nend\n'; exec sleep 999`
	one, two := f.spawn("one", "sh", "-c", paint), f.spawn("two", "sh", "-c", paint)
	one.shows("end")
	two.shows("end")
	want := swarm.Screen{
		Lines:  []string{"plain", "red", "  on dim\u00a0", "", "", "end"},
		Styled: []string{"plain", "\x1b[31mred\x1b[0m", "\x1b[31m  on \x1b[0;2mdim\u00a0\x1b[0m", "", "", "end"},
	}
	results, err := one.backend.ScreenBatch(t.Context(), []swarm.Handle{one.handle, two.handle}, swarm.ScreenOptions{Styles: true})
	if err != nil {
		t.Fatal(err)
	}
	single, err := one.backend.Screen(t.Context(), one.handle, swarm.ScreenOptions{Styles: true})
	want.Columns, want.Rows, want.Cursor = 80, 24, &swarm.Cursor{Row: 6, Visible: true}
	for i, got := range append(results, swarm.ScreenResult{Screen: single, Err: err}) {
		if diff := cmp.Diff(swarm.ScreenResult{Screen: want}, got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", i, diff)
		}
	}
	last, err := one.backend.Screen(t.Context(), one.handle, swarm.ScreenOptions{Styles: true, Lines: 5})
	whole := want
	want.Lines, want.Styled = want.Lines[1:], want.Styled[1:]
	if diff := cmp.Diff(want, last); err != nil || diff != "" {
		t.Errorf("the last lines: %v (-want +got):\n%s", err, diff)
	}
	two.kill(gently)
	taken, err := two.backend.Screen(t.Context(), two.handle, swarm.ScreenOptions{Styles: true})
	if diff := cmp.Diff(swarm.Screen{Lines: whole.Lines, Styled: whole.Styled, Taken: true}, taken); err != nil || diff != "" {
		t.Errorf("the last screen: %v (-want +got):\n%s", err, diff)
	}
}

// TestScreenCursor: the size is that of the pane, and rows of the cursor are those of the terminal,
// by a look at one and by a look at several.
func TestScreenCursor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	one := f.spawn("one", "sh", "-c", `printf '%0100d\nname: ' 7; printf '\033[?25l'; exec sleep 999`)
	two := f.spawn("two", "sh", "-c", `printf '%080d' 7; exec sleep 999`)
	one.shows("name:")
	two.shows(fmt.Sprintf("%080d", 7))
	f.mustTmux("resize-window", "-t", one.parts().Window, "-x", "70", "-y", "20")
	one.shows("name:")
	want := []swarm.Screen{
		{Lines: []string{fmt.Sprintf("%0100d", 7), "name:"}, Columns: 70, Rows: 20, Cursor: &swarm.Cursor{Column: 6, Row: 2}},
		{Lines: []string{fmt.Sprintf("%080d", 7)}, Columns: 80, Rows: 24, Cursor: &swarm.Cursor{Column: 80, Visible: true}},
	}
	results, err := one.backend.ScreenBatch(t.Context(), []swarm.Handle{one.handle, two.handle}, swarm.ScreenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range []*worker{one, two} {
		single, err := w.backend.Screen(t.Context(), w.handle, swarm.ScreenOptions{})
		for _, got := range []swarm.ScreenResult{results[i], {Screen: single, Err: err}} {
			if diff := cmp.Diff(swarm.ScreenResult{Screen: want[i]}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", w.spec.Name, diff)
			}
		}
	}
}

// TestScreenAfterExit has output that is still on its way to tmux at the end.
func TestScreenAfterExit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "seq 1 3000; "+painting+"; exit 3")
	w.wait()
	w.wantScreen(4, painted(true))
	if got := w.screen(900).Lines; len(got) != 900 || got[0] != "2105" {
		t.Errorf("%d lines from %q", len(got), got[0])
	}
}

// TestScreensAfterExit has workers of one session end at the same time, in windows
// of which the user looks at one, and at another pane of it.
func TestScreensAfterExit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workers := make([]*worker, 8)
	for i := range workers {
		name := fmt.Sprintf("w%d", i)
		workers[i] = f.spawn(name, "sh", "-c", "echo this is "+name+"; while [ ! -e go ]; do sleep 0.05; done")
		workers[i].shows("this is " + name)
	}
	f.mustTmux("split-window", "-t", workers[3].parts().Pane, "echo not you; exec sleep 999")
	f.mustTmux("select-window", "-t", workers[3].parts().Window)
	if err := os.WriteFile(filepath.Join(f.state, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, w := range workers {
		w.wait()
		w.wantScreen(0, swarm.Screen{Lines: []string{"this is " + w.spec.Name}, Taken: true})
	}
}

// TestScreenOfFullScreen has a program use the terminal's other screen for a while.
func TestScreenOfFullScreen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", `echo before; printf '\033[?1049h\033[2J\033[Hfull screen\n'; read x; printf '\033[?1049l'; exit 0`)
	w.shows("full screen")
	w.wantScreen(0, swarm.Screen{Lines: []string{"full screen"}})
	w.types("")
	w.wait()
	w.wantScreen(0, swarm.Screen{Lines: []string{"before"}, Taken: true})
}

// TestScreenOfWhatIsGone has the user close the window.
func TestScreenOfWhatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "echo ready; exec sleep 999")
	w.shows("ready")
	f.mustTmux("kill-window", "-t", w.parts().Window)
	w.wait()
	if s, err := f.backend.Screen(t.Context(), w.handle, swarm.ScreenOptions{}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestScreenOfAnother has another server give the pane's id to another pane.
func TestScreenOfAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.newWorker("w", "sh", "-c", stubborn)
	w.spec.Kill = swarm.KillOptions{Grace: patience}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.says("ready")
	f.mustTmux("kill-server")
	eventually(t, "there is another server", func() bool {
		_, err := f.tmux("new-session", "-d", "-s", w.parts().Session, "-n", "w", "echo secret; sleep 999")
		return err == nil
	})
	if s, err := f.backend.Screen(t.Context(), w.handle, swarm.ScreenOptions{}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("running: %+v, %v", s, err)
	}
	w.kill(swarm.KillOptions{Force: true})
	if s, err := f.backend.Screen(t.Context(), w.handle, swarm.ScreenOptions{}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("killed: %+v, %v", s, err)
	}
}

// TestKillRunsTmuxOnce counts. It sets PATH, so it can't be parallel.
func TestKillRunsTmuxOnce(t *testing.T) {
	f := newFixture(t)
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >>" + dir + "/calls\nexec " + real + " \"$@\"\n"
	if err := buildtest.Write(filepath.Join(dir, "tmux"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	w := f.spawn("w", "sh", "-c", "echo ready; exec sleep 999")
	w.shows("ready")
	if err := os.Remove(filepath.Join(dir, "calls")); err != nil {
		t.Fatal(err)
	}
	w.kill(gently)
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil || strings.Count(string(calls), "\n") != 1 {
		t.Errorf("tmux was run with %s, %v", calls, err)
	}
	w.wantScreen(0, swarm.Screen{Lines: []string{"ready"}, Taken: true})
}

// TestScreenOfASlowServer: the screen is kept when tmux closes the pane in time and prints it
// after the kill has given up on it. It sets PATH, so it can't be parallel.
func TestScreenOfASlowServer(t *testing.T) {
	f := newFixture(t)
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in
*kill-pane*) %[1]s "$@" >%[2]s/out; echo >%[2]s/closed; until [ -e %[2]s/killed ]; do sleep 0.05; done; cat %[2]s/out;;
*) exec %[1]s "$@";;
esac
`, real, dir)
	if err := buildtest.Write(filepath.Join(dir, "tmux"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	w := f.spawn("w", "sh", "-c", "echo ready; exec sleep 999")
	w.shows("ready")
	w.kill(swarm.KillOptions{Grace: 10 * time.Millisecond, Force: true})
	if _, err := os.Stat(filepath.Join(dir, "closed")); err != nil {
		t.Fatal("the pane was not closed:", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "killed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the screen was kept", w.hasScreen)
	w.wantScreen(0, swarm.Screen{Lines: []string{"ready"}, Taken: true})
}

// TestScreensOfACrowd has many workers killed at once, one of them without its
// window.
func TestScreensOfACrowd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	crowd := make([]*worker, 40)
	for i := range crowd {
		name := fmt.Sprintf("w%d", i)
		crowd[i] = f.spawn(name, "sh", "-c", "echo this is "+name+"; trap 'clear; echo bye' HUP; sleep 999")
	}
	gone := f.newWorker("gone", "sh", "-c", stubborn)
	gone.spec.Kill = swarm.KillOptions{Grace: patience}
	if err := gone.start(); err != nil {
		t.Fatal(err)
	}
	gone.says("ready")
	f.mustTmux("kill-window", "-t", gone.parts().Window)
	for _, w := range crowd {
		w.shows("this is " + w.spec.Name)
	}
	var killing sync.WaitGroup
	for _, w := range slices.Concat(crowd, []*worker{gone}) {
		killing.Go(func() {
			if _, err := f.backend.Kill(t.Context(), w.handle, swarm.KillOptions{Grace: patience, Force: true}); err != nil {
				t.Errorf("%s: %v", w.spec.Name, err)
			}
		})
	}
	// It ignores the signal of a window that is closed.
	gone.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true})
	killing.Wait()
	for _, w := range crowd {
		// Where a tmux server closes many panes slowly, a kill does not wait for its screen.
		eventually(t, "the screen of "+w.spec.Name+" was kept", w.hasScreen)
		w.wantScreen(0, swarm.Screen{Lines: []string{"this is " + w.spec.Name}, Taken: true})
		if s := w.status(); s.Exit == nil || s.Exit.Cause != swarm.CauseKilled {
			t.Errorf("%s: %+v", w.spec.Name, s)
		}
	}
	if left := f.windows(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A query of many windows reports for each what a query of that window alone reports, even if
// one of them is gone.
func TestScreenBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var hs []swarm.Handle
	var ws []*worker
	for i := range 4 {
		w := f.spawn(fmt.Sprint("w", i), "sh", "-c", fmt.Sprintf("echo screen %d; exec sleep 999", i))
		w.shows(fmt.Sprint("screen ", i))
		ws, hs = append(ws, w), append(hs, w.handle)
	}
	closed := ws[1]
	f.mustTmux("kill-window", "-t", closed.parts().Window)
	hs = append(hs, swarm.Handle{Version: 1, Data: []byte("no handle")})
	results, err := ws[0].backend.ScreenBatch(t.Context(), hs, swarm.ScreenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results[:4] {
		if i != 1 && (r.Err != nil || !slices.Equal(r.Screen.Lines, []string{fmt.Sprint("screen ", i)})) {
			t.Errorf("screen %d: %+v", i, r)
		}
	}
	if r := results[1]; r.Err == nil && !r.Screen.Taken {
		t.Errorf("a window that is gone: %+v", r)
	}
	if r := results[4]; !errors.Is(r.Err, swarm.ErrInvalidHandle) {
		t.Errorf("no handle: %+v", r)
	}
}
