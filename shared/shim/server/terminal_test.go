//go:build linux

package server_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// window is a terminal window with a shim in it, as a terminal multiplexer or a
// person would see it.
type window struct {
	*shim
	master *os.File
	// pane is the other end, held to look at its settings.
	pane *os.File

	mu   sync.Mutex
	seen bytes.Buffer
}

func openWindow(t *testing.T, l rundir.Launch) *window {
	t.Helper()
	w := openFrozen(t, l)
	go w.watch()
	return w
}

// openFrozen opens a window that shows nothing until it is watched.
func openFrozen(t *testing.T, l rundir.Launch) *window {
	t.Helper()
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(m, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(m, unix.TIOCGPTN)
	must(t, err)
	pane, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	must(t, unix.SetNonblock(m, true))
	w := &window{master: os.NewFile(uintptr(m), "window"), pane: pane}
	t.Cleanup(func() { pane.Close() })
	w.resize(90, 30)
	l.Terminal = true
	w.shim = start(t, l, options{
		env: []string{"TERM=screen", "TMUX=/tmp/x,1,0", "TMUX_PANE=%7"},
		prepare: func(cmd *exec.Cmd) {
			cmd.Stdin, cmd.Stdout, cmd.Stderr = pane, pane, pane
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		},
	})
	return w
}

func (w *window) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := w.master.Read(buf)
		w.mu.Lock()
		w.seen.Write(buf[:n])
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (w *window) resize(columns, rows uint16) {
	_ = unix.IoctlSetWinsize(int(w.pane.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
}

func (w *window) keys(s string) {
	w.t.Helper()
	_, err := w.master.WriteString(s)
	must(w.t, err)
}

// shows waits until a text is on the screen and returns all that is.
func (w *window) shows(text string) string {
	w.t.Helper()
	var all string
	w.until("the window shows "+text, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		all = w.seen.String()
		return strings.Contains(all, text)
	})
	return all
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	l := launch(`[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal; stty size; echo "$TERM $TMUX $TMUX_PANE"; tty; read line; echo "got $line"; exit 6`)
	l.Env = []string{"TERM=dumb", "TMUX=wrong", "TMUX_PANE=wrong"}
	w := openWindow(t, l)
	before, err := unix.IoctlGetTermios(int(w.pane.Fd()), unix.TCGETS)
	must(t, err)
	if before.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != 0 {
		t.Error("the outer terminal is not raw")
	}
	w.shows("terminal\r\n30 90\r\nscreen /tmp/x,1,0 %7\r\n/dev/pts/")
	w.keys("hello\r")
	w.shows("hello\r\ngot hello\r\n")
	if st := w.end(); st.Code != 6 || st.Cause != "exited" {
		t.Errorf("status %+v", st)
	}
	// The log has what the window has.
	if got := w.text("stdout"); !strings.HasPrefix(got, "terminal\r\n") || !strings.HasSuffix(got, "got hello\r\n") || w.text("stderr") != "" {
		t.Errorf("log %q", got)
	}
	after, err := unix.IoctlGetTermios(int(w.pane.Fd()), unix.TCGETS)
	must(t, err)
	if after.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != unix.ICANON|unix.ECHO|unix.ISIG {
		t.Error("the outer terminal was not restored")
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	w := openWindow(t, launch(`trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done`))
	w.shows("ready")
	w.resize(133, 44)
	w.shows("44 133\r\n")
	w.kill("SIGTERM", limit, true)
	w.end()
}

// A shell behaves as in a plain window: Ctrl-C and Ctrl-Z reach the job and not
// the shell, and jobs can be continued.
func TestJobControl(t *testing.T) {
	t.Parallel()
	l := launch("")
	l.Command = []string{"bash", "--norc", "--noprofile", "-i"}
	l.Env = []string{"PS1=$ ", "HISTFILE=", "HOME=/"}
	w := openWindow(t, l)
	w.shows("$ ")
	w.keys("sleep 997\r")
	// The shell gives it the terminal before it becomes sleep.
	w.until("the job has the terminal", func() bool {
		return slices.ContainsFunc(w.left(), func(p proc.Process) bool { return p.Name == "sleep" })
	})
	w.keys("\x1a")
	w.shows("Stopped")
	w.keys("jobs\r")
	w.shows("[1]+  Stopped                 sleep 997\r\n")
	w.keys("fg\r")
	w.until("the job runs", func() bool {
		for _, p := range w.left() {
			if p.Name == "sleep" {
				return p.State != 'T'
			}
		}
		return false
	})
	w.keys("\x03")
	w.until("the job ended", func() bool { return len(w.left()) == 1 })
	w.keys("echo code $?; exit 5\r")
	w.shows("code 130\r\n")
	if st := w.end(); st.Code != 5 || st.Cause != "exited" {
		t.Errorf("status %+v", st)
	}
}

// Closing the window ends the whole tree, and is distinguished from an exit.
func TestHangup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		signal       string
		forced       bool
	}{
		{"gentle", `setsid sleep 999 & echo ready; exec sleep 999`, "SIGHUP", false},
		{"stopped", `sleep 999 & kill -STOP $!; echo ready; kill -STOP $$; sleep 999`, "SIGHUP", false},
		{"ignores SIGHUP", `trap "" HUP; setsid sleep 999 & echo ready; while :; do sleep 1; done`, "SIGKILL", true},
		{"writes", `trap "" HUP; echo ready; while echo x; do :; done; exec sleep 999`, "SIGKILL", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := launch(tt.script)
			l.GraceMS = 300
			w := openWindow(t, l)
			w.shows("ready")
			w.pane.Close()
			must(t, w.master.Close())
			st := w.end()
			w.wantNothingLeft()
			if st.Cause != "hangup" || st.Signal != tt.signal || st.Forced != tt.forced || st.Reason != "the terminal was closed" {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// The last words are in the log, and a window that no program reads delays nothing.
func TestUnreadWindow(t *testing.T) {
	t.Parallel()
	w := openWindow(t, launch(`echo first; seq 1 2000; echo last`))
	w.end()
	got := w.text("stdout")
	if !strings.HasPrefix(got, "first\r\n1\r\n") || !strings.HasSuffix(got, "2000\r\nlast\r\n") {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
}

// A window that takes nothing, as one of a stopped multiplexer, stops neither the worker
// nor its log, and shows the newest output once it continues.
func TestFrozenWindow(t *testing.T) {
	t.Parallel()
	w := openFrozen(t, launch(`seq 1 60000; echo last; read line; echo "got $line"`))
	w.until("the log has all of it", func() bool { return strings.HasSuffix(w.text("stdout"), "60000\r\nlast\r\n") })
	go w.watch()
	w.shows("bytes are in the log only]\r\n")
	w.shows("59999\r\n60000\r\nlast\r\n")
	w.keys("hello\r")
	w.shows("got hello\r\n")
	if st := w.end(); st.Code != 0 || st.DroppedBytes != 0 {
		t.Errorf("status %+v", st)
	}
}

// One that stays frozen keeps neither a kill nor the shim.
func TestFrozenWindowAndKill(t *testing.T) {
	t.Parallel()
	w := openFrozen(t, launch(`seq 1 60000; echo last; exec sleep 999`))
	w.until("the log has all of it", func() bool { return strings.HasSuffix(w.text("stdout"), "60000\r\nlast\r\n") })
	if a := w.kill("SIGTERM", limit, true); a.Kind != rundir.AnswerEnded {
		t.Errorf("answer %+v", a)
	}
	w.end()
	w.wantNothingLeft()
}

// A full-screen program gets every byte through, both ways.
func TestFullScreen(t *testing.T) {
	t.Parallel()
	w := openWindow(t, launch(`stty raw -echo; printf '\033[?1049h\033[2Jscreen'; dd bs=1 count=3 2>/dev/null | od -An -tx1; stty sane; printf '\033[?1049l'`))
	w.shows("\x1b[?1049h\x1b[2Jscreen")
	w.keys("\x03\x1a\x1b")
	w.shows(" 03 1a 1b")
	if st := w.end(); st.Code != 0 {
		t.Errorf("status %+v", st)
	}
}

func TestNoTerminal(t *testing.T) {
	t.Parallel()
	l := launch("true")
	l.Terminal = true
	s, line := tryStart(t, l, options{})
	if line != "error standard input is not a terminal" {
		t.Errorf("got %q", line)
	}
	s.leaves()
}
