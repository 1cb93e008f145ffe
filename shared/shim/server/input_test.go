//go:build linux

package server_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

func inputLine(kind string, size int, enter bool) string {
	return rundir.Request{Verb: rundir.VerbInput, ID: "w1", Kind: kind, Enter: enter, Size: size}.String() + "\n"
}

// input gives text and returns the answer.
func (s *shim) input(text string, enter bool) string {
	s.t.Helper()
	return s.give(inputLine(rundir.InputText, len(text), enter) + text)
}

// press sends a key.
func (s *shim) press(kind string) string {
	s.t.Helper()
	return s.give(inputLine(kind, 0, false))
}

func (s *shim) give(request string) string {
	s.t.Helper()
	return answerOf(s.dial(), request)
}

// giveText gives text in another goroutine. It is connected at once: the worker may
// end before it comes to that.
func (s *shim) giveText(text string, enter bool) <-chan string {
	s.t.Helper()
	c := s.dial()
	answer := make(chan string, 1)
	go func() { answer <- answerOf(c, inputLine(rundir.InputText, len(text), enter)+text) }()
	return answer
}

// answerOf returns the first line of the answer to a request.
func answerOf(c net.Conn, request string) string {
	// A shim that refuses the request does not read all of it.
	_, _ = io.WriteString(c, request)
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(line, "\n")
}

func (s *shim) touch(name string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.work, name), nil, 0o600))
}

// got waits until the worker has written that much to the file "got".
func (s *shim) got(size int) string {
	s.t.Helper()
	var b []byte
	s.until("the worker has got its input", func() bool {
		b, _ = os.ReadFile(filepath.Join(s.work, "got"))
		return len(b) >= size
	})
	return string(b)
}

func inputLaunch(script string) rundir.Launch {
	l := launch(script)
	l.Stdin = true
	return l
}

func TestInputToTerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 1024)
	for name, tt := range map[string]struct {
		stty, text string
		enter      bool
		want       string
	}{
		"10 KB, raw":         {"raw -echo", long, false, long},
		"Enter, raw":         {"raw -echo", "a", true, "a\r"},
		"several lines":      {"sane", "one\ntwo\nthree", true, "one\ntwo\nthree\n"},
		"several lines, raw": {"raw", "one\ntwo\nthree", true, "one\ntwo\nthree\r"},
		"dash":               {"sane", "-n --help", true, "-n --help\n"},
		"control characters": {"sane", "a\x03b\x04c\x15d\x16e\x7ff\x1a", true, "a\x03b\x04c\x15d\x16e\x7ff\x1a\n"},
		"nothing":            {"sane", "", true, "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openWindow(t, launch("stty "+tt.stty+"; echo ready; exec cat > got"))
			w.shows("ready")
			if a := w.input(tt.text, tt.enter); a != "ok" {
				t.Errorf("answer %q", a)
			}
			if diff := cmp.Diff(tt.want, w.got(len(tt.want))); diff != "" {
				t.Error(diff)
			}
			w.kill("SIGTERM", limit, true)
		})
	}
}

func (s *shim) presses(names string) string {
	s.t.Helper()
	return s.give(inputLine(rundir.InputKeys, len(names), false) + names)
}

// Keys are pressed, and never given as text: not to a pipe either.
func TestInputKeys(t *testing.T) {
	t.Parallel()
	w := openWindow(t, launch(`stty raw -echo; printf '\033[?1h\033[?2004h'; echo ready; exec cat > got`))
	w.shows("ready")
	if a := w.presses("Down Enter nope"); a != `error there is no key named "nope"` {
		t.Errorf("answer %q", a)
	}
	if a := w.presses("Down Enter"); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if got := w.got(4); got != "\x1bOB\r" {
		t.Errorf("got %q", got)
	}
	w.kill("SIGTERM", limit, true)

	s := start(t, inputLaunch("exec cat > got"), options{})
	if a := s.presses("Enter"); a != "error the worker is on no terminal: no key can be pressed" {
		t.Errorf("answer %q", a)
	}
	s.kill("SIGTERM", limit, true)
}

// A text that is to be pasted waits for a program that takes pastes, is held back
// from one that does not, and goes to a pipe as ever.
func TestInputPasteOnly(t *testing.T) {
	t.Parallel()
	paste := func(text string) string {
		r := rundir.Request{Verb: rundir.VerbInput, ID: "w1", Kind: rundir.InputText, Size: len(text), Enter: true, AfterMS: 1, PasteOnly: true}
		return r.String() + "\n" + text
	}
	w := openWindow(t, launch(`stty raw -echo; echo ready; read -r x; printf '\033[?2004h'; exec cat > got`))
	w.shows("ready")
	if a := w.give(paste("!no")); a != "busy "+pty.ErrNoPaste.Error() {
		t.Errorf("answer %q", a)
	}
	if a := w.input("\n", false); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if a := w.give(paste("!yes")); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if got, want := w.got(17), "\x1b[200~!yes\x1b[201~\r"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.kill("SIGTERM", limit, true)

	s := start(t, inputLaunch("exec cat > got"), options{})
	if a := s.give(paste("text")); a != "ok" || s.got(5) != "text\n" {
		t.Errorf("answer %q", a)
	}
	s.kill("SIGTERM", limit, true)
}

func TestInputRefused(t *testing.T) {
	t.Parallel()
	w := openWindow(t, launch("echo ready; exec cat > got"))
	w.shows("ready")
	want := "error a line of 5000 bytes: the worker's terminal is in line mode and takes 4095 of a line"
	if a := w.input("before\n"+strings.Repeat("x", 5000), true); a != want {
		t.Errorf("answer %q", a)
	}
	if a := w.input("after", true); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if got := w.got(6); got != "after\n" {
		t.Errorf("got %q", got)
	}
	if a := w.ask("input id=other kind=text enter=0 size=0"); a[0] != "stale" {
		t.Errorf("answer %q", a)
	}
	w.kill("SIGTERM", limit, true)

	s := start(t, launch("exec sleep 999"), options{})
	for _, a := range []string{s.input("x", true), s.press(rundir.InputEOF)} {
		if a != "error the worker has no standard input" {
			t.Errorf("answer %q", a)
		}
	}
	s.kill("SIGTERM", limit, true)
}

// A worker that does not read keeps no other client waiting, and gets its input in the end.
func TestUnreadInput(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"short": "hello", "long": strings.Repeat("x", 100<<10)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openWindow(t, launch("stty raw -echo; echo ready; while [ ! -e go ]; do sleep 0.02; done; exec cat > got"))
			w.shows("ready")
			answer := w.giveText(text, true)
			for range 20 {
				began := time.Now()
				if a := w.ask("signal id=w1 signal=SIGCONT mode=main"); a[0] != "ok" || time.Since(began) > 2*time.Second {
					t.Errorf("answer %q after %v", a, time.Since(began))
				}
			}
			if a := <-answer; a != "pending" {
				t.Errorf("answer %q", a)
			}
			if a := w.input("not before the first", false); a != "busy the worker has not read an earlier input" {
				t.Errorf("answer %q", a)
			}
			w.touch("go")
			if got := w.got(len(text) + 1); got != text+"\r" {
				t.Errorf("got %d bytes", len(got))
			}
			if a := w.input("more", false); a != "ok" {
				t.Errorf("answer %q", a)
			}
			w.kill("SIGTERM", limit, true)
		})
	}
}

func TestKillWhileInputIsGiven(t *testing.T) {
	t.Parallel()
	w := openWindow(t, launch("stty raw -echo; echo ready; exec sleep 999"))
	w.shows("ready")
	answer := w.giveText(strings.Repeat("x", 1<<20), true)
	began := time.Now()
	w.kill("SIGTERM", limit, true)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the kill took %v", took)
	}
	if a := <-answer; a != "busy the worker's process ended before it had read all of it" && !isLeft(a) {
		t.Errorf("answer %q", a)
	}
	w.end()
}

func TestInputsDoNotMix(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T) *shim{
		"terminal": func(t *testing.T) *shim {
			t.Helper()
			w := openWindow(t, launch("stty raw -echo; echo ready; exec cat > got"))
			w.shows("ready")
			return w.shim
		},
		"pipe": func(t *testing.T) *shim {
			t.Helper()
			return start(t, inputLaunch("exec cat > got"), options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			a, b := strings.Repeat("a", 20_000), strings.Repeat("b", 20_000)
			var wg sync.WaitGroup
			for _, text := range []string{a, b} {
				wg.Go(func() {
					if got := s.input(text, false); got != "ok" {
						t.Errorf("answer %q", got)
					}
				})
			}
			wg.Wait()
			if got := s.got(len(a) + len(b)); got != a+b && got != b+a {
				t.Errorf("mixed")
			}
			s.kill("SIGTERM", limit, true)
		})
	}
}

func TestInputToPipe(t *testing.T) {
	t.Parallel()
	s := start(t, inputLaunch("exec cat > got"), options{})
	// More than a pipe holds.
	large := strings.Repeat("0123456789\x00\x03\xff\n", 30_000)
	for _, text := range []string{"first", large, ""} {
		if a := s.input(text, true); a != "ok" {
			t.Errorf("answer %q", a)
		}
	}
	want := "first\n" + large + "\n\n"
	if s.got(len(want)) != want {
		t.Error("it did not arrive as it was")
	}
	if a := s.press(rundir.InputEOF); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if st := s.end(); st.Code != 0 || st.Cause != "exited" {
		t.Errorf("status %+v", st)
	}
}

func TestInputAfterEOF(t *testing.T) {
	t.Parallel()
	s := start(t, inputLaunch("cat; echo over; exec sleep 999"), options{})
	if a := s.press(rundir.InputEOF); a != "ok" {
		t.Errorf("answer %q", a)
	}
	s.says("over")
	for _, a := range []string{s.input("x", true), s.press(rundir.InputEOF)} {
		if a != "error the worker's standard input is closed" {
			t.Errorf("answer %q", a)
		}
	}
	s.kill("SIGTERM", limit, true)

	s = start(t, inputLaunch("exec <&-; echo closed; exec sleep 999"), options{})
	s.says("closed")
	if a := s.input("x", true); a != "error the worker's standard input is closed" {
		t.Errorf("answer %q", a)
	}
	s.kill("SIGTERM", limit, true)
}

func TestUnreadInputToPipe(t *testing.T) {
	t.Parallel()
	s := start(t, inputLaunch("while [ ! -e go ]; do sleep 0.02; done; exec cat > got"), options{})
	text := strings.Repeat("x", 1<<20)
	if a := s.input(text, false); a != "pending" {
		t.Errorf("answer %q", a)
	}
	s.touch("go")
	if s.got(len(text)) != text {
		t.Error("it did not arrive as it was")
	}
	s.kill("SIGTERM", limit, true)
}

// Each start has a standard input of its own.
func TestInputAfterRestart(t *testing.T) {
	t.Parallel()
	l := restartLaunch("on-failure", "read line; echo got $line; [ $line = b ]")
	l.Stdin = true
	s := start(t, l, options{})
	// Read, and ended at once: that is no failure.
	if a := s.input("a", true); a != "ok" {
		t.Errorf("answer %q", a)
	}
	s.until("it was started again", func() bool { return s.status().Restarts == 1 })
	if a := s.input("b", true); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if st := s.end(); st.Cause != "exited" || st.Code != 0 || s.text("stdout") != "got a\ngot b\n" {
		t.Errorf("status %+v, output %q", st, s.text("stdout"))
	}
}

// A worker that reads and ends at once has read its input, on a terminal too. A worker that
// ends before it reads has not.
func TestInputToAnEndingWorker(t *testing.T) {
	t.Parallel()
	for range 5 {
		w := openWindow(t, launch("echo ready; read line; exit 3"))
		w.shows("ready")
		if a := w.input("x", true); a != "ok" {
			t.Errorf("answer %q", a)
		}
		w.end()
		s := start(t, inputLaunch("read line; exit 3"), options{})
		if a := s.input("x", true); a != "ok" {
			t.Errorf("answer %q of a pipe", a)
		}
		s.end()
	}
	w := openWindow(t, launch("stty raw -echo; echo ready; while [ ! -e go ]; do sleep 0.02; done; exit 3"))
	w.shows("ready")
	answer := w.giveText("x", false)
	w.touch("go")
	if a := <-answer; a != "busy the worker's process ended before it had read all of it" && !isLeft(a) {
		t.Errorf("answer %q", a)
	}
}

// isLeft says whether an answer is that of a worker, or of a shim, that has left.
func isLeft(answer string) bool {
	return strings.HasPrefix(answer, "ended ") || strings.Contains(answer, "EOF") || strings.Contains(answer, "reset by peer")
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	// The child must get it too: its shell waits for it.
	s := start(t, launch(`trap 'echo main; exit 0' INT; sleep 999 & echo ready; wait; wait`), options{})
	s.says("ready")
	if a := s.press(rundir.InputInterrupt); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if st := s.end(); st.Code != 0 || s.text("stdout") != "ready\nmain\n" {
		t.Errorf("status %+v, output %q", st, s.text("stdout"))
	}

	w := openWindow(t, launch(`trap 'echo interrupted' INT; echo ready; while :; do read x && break; done; echo "got $x"; cat; echo over`))
	w.shows("ready")
	if a := w.press(rundir.InputInterrupt); a != "ok" {
		t.Errorf("answer %q", a)
	}
	w.shows("interrupted")
	w.input("x", true)
	w.shows("got x")
	if a := w.press(rundir.InputEOF); a != "ok" {
		t.Errorf("answer %q", a)
	}
	w.shows("over")
	if st := w.end(); st.Code != 0 {
		t.Errorf("status %+v", st)
	}
}

func TestHalfAnInput(t *testing.T) {
	t.Parallel()
	s := start(t, inputLaunch("exec cat > got"), options{})
	c := s.dial()
	_, err := io.WriteString(c, inputLine(rundir.InputText, 100, false)+"half")
	must(t, err)
	c.Close()
	if a := s.input("whole", true); a != "ok" {
		t.Errorf("answer %q", a)
	}
	if got := s.got(6); got != "whole\n" {
		t.Errorf("got %q", got)
	}
	s.kill("SIGTERM", limit, true)
}

// The memory of an input is freed with it: all of them together have 1.8 MB.
func TestManyInputsInLittleMemory(t *testing.T) {
	t.Parallel()
	l := launch("echo ready; exec cat >/dev/null")
	l.Stdin = true
	s := start(t, l, options{})
	s.says("ready")
	text := strings.Repeat("x", 31_000)
	for range 60 {
		if got := s.input(text, true); got != "ok" {
			t.Fatalf("answer %q", got)
		}
	}
	if rss := s.resident(); rss > 2<<20 {
		t.Errorf("the shim takes %d bytes", rss)
	}
	s.kill("SIGTERM", limit, true)
	s.end()
}
