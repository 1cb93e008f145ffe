package tmux_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (w *worker) give(in swarm.Input) {
	w.t.Helper()
	r, err := w.backend.Input(w.t.Context(), w.handle, in)
	if err != nil || r.Pending {
		w.t.Fatalf("%s %.40q: %+v, %v", in.Kind, in.Data, r, err)
	}
}

// types gives text and submits it.
func (w *worker) types(text string) {
	w.t.Helper()
	w.give(swarm.Input{Data: []byte(text), Enter: true})
}

func (w *worker) refuses(text, why string) {
	w.t.Helper()
	_, err := w.backend.Input(w.t.Context(), w.handle, swarm.Input{Data: []byte(text), Enter: true})
	if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), why) {
		w.t.Errorf("%.40q: %v", text, err)
	}
}

// got checks what the worker wrote to its file.
func (w *worker) got(want string) {
	w.t.Helper()
	name := filepath.Join(w.spec.Dir, "got")
	var b []byte
	eventually(w.t, "the worker has all", func() bool {
		b, _ = os.ReadFile(name)
		return len(b) >= len(want)
	})
	if string(b) != want {
		w.t.Errorf("got %d bytes %.200q instead of %d %.200q", len(b), b, len(want), want)
	}
}

func (w *worker) exitsWith(want swarm.Exit) {
	w.t.Helper()
	s := w.wait()
	if s.Exit == nil || s.Exit.Code != want.Code || s.Exit.Signal != want.Signal || s.Exit.Cause != swarm.CauseExited {
		w.t.Errorf("status %+v, exit %+v", s, s.Exit)
	}
}

// TestInputByLines is for a program that leaves the editing of lines to its
// terminal, which reads some characters as orders.
func TestInputByLines(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "echo ready; exec cat >got")
	w.says("ready")
	texts := []string{
		"one\ntwo\n\nthree", "-n --help", "a\x03b\x04c\x1bd\x7fe\x15f\x16g\x1ah\x1c", "tab\there",
		"héllo 世界", "\xff\xfe", strings.Repeat("x", 4094), "",
	}
	for _, text := range texts {
		w.types(text)
	}
	w.got(strings.Join(texts, "\n") + "\n")
	w.give(swarm.Input{Kind: swarm.InputEOF})
	w.exitsWith(swarm.Exit{})
}

// TestInputTooLong is what a terminal would cut in silence.
func TestInputTooLong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "echo ready; exec cat >got")
	w.says("ready")
	w.refuses("short\n"+strings.Repeat("x", 4096), "4095")
	w.types("after")
	w.got("after\n")
}

// TestInputRaw is for a program that reads its keys itself.
func TestInputRaw(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	text := string(bytes.Repeat(every, 40))
	w := f.spawn("w", "sh", "-c", "stty raw -echo; echo ready; head -c 10241 >got; echo done; exec sleep 999")
	w.says("ready")
	w.types(text)
	w.got(text + "\r")
	w.says("done")
}

// TestInputPasted is for a program that reports what is pasted from what is typed.
func TestInputPasted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", `stty raw -echo; printf '\033[?2004hready\n'; head -c 18 >got; exec sleep 999`)
	w.says("\x1b[?2004hready")
	w.types("a\nb c")
	w.got("\x1b[200~a\nb c\x1b[201~\r")
}

// TestInputInCopyMode has the user look at what was above.
func TestInputInCopyMode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "echo ready; exec cat >got")
	w.says("ready")
	f.mustTmux("copy-mode", "-t", w.parts().Pane)
	w.types("still here")
	w.got("still here\n")
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "echo ready; exec sleep 999")
	w.says("ready")
	w.give(swarm.Input{Kind: swarm.InputInterrupt})
	w.exitsWith(swarm.Exit{Code: -1, Signal: "SIGINT"})
	eventually(t, "the window is gone", func() bool { return len(f.windows()) == 0 })
	if _, err := f.backend.Input(t.Context(), w.handle, swarm.Input{Data: []byte("x")}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("after its end: %v", err)
	}
}

// TestInputWithoutWindow has a worker outlive its server for a while.
func TestInputWithoutWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.newWorker("w", "sh", "-c", "trap '' HUP; echo ready; exec cat >got")
	w.spec.Kill = swarm.KillOptions{Grace: patience}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.says("ready")
	f.mustTmux("kill-server")
	w.types("still here")
	w.got("still here\n")
}
