package process_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/shared/swarm"
)

// talker is a worker that is talked with.
type talker struct {
	t       *testing.T
	backend *process.Backend
	spec    swarm.Spec
	handle  swarm.Handle
}

// talkTo starts a shell script that ends with the test.
func talkTo(t *testing.T, stdin bool, script string) *talker {
	t.Helper()
	w := &talker{t: t, backend: process.New(slog.New(slog.DiscardHandler)), spec: specOf(t, "sh", "-c", script)}
	w.spec.Stdin = stdin
	h, err := w.backend.Spawn(t.Context(), w.spec)
	if err != nil {
		t.Fatal(err)
	}
	w.handle = h
	t.Cleanup(func() {
		// The context of the test has ended by now.
		if _, err := w.backend.Kill(context.WithoutCancel(t.Context()), h, swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return w
}

func (w *talker) give(in swarm.Input) swarm.InputResult {
	w.t.Helper()
	r, err := w.backend.Input(w.t.Context(), w.handle, in)
	if err != nil {
		w.t.Fatalf("%s %.40q: %v", in.Kind, in.Data, err)
	}
	return r
}

// refuses checks the error of an input.
func (w *talker) refuses(in swarm.Input, is error, text string) {
	w.t.Helper()
	_, err := w.backend.Input(w.t.Context(), w.handle, in)
	if !errors.Is(err, is) || !strings.Contains(err.Error(), text) {
		w.t.Errorf("%s %.40q: %v", in.Kind, in.Data, err)
	}
}

// says waits for the first line that the worker writes.
func (w *talker) says(line string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	heard := errors.New("heard")
	err := w.backend.Output(ctx, w.handle, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		if string(o.Data) != line {
			w.t.Errorf("the worker says %q", o.Data)
		}
		return heard
	})
	if !errors.Is(err, heard) {
		w.t.Fatalf("the worker does not say %q: %v", line, err)
	}
}

func (w *talker) exits(want swarm.Exit) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	s, err := lastStatus(ctx, w.backend, w.handle)
	if err != nil || s.Exit == nil || s.Exit.Code != want.Code || s.Exit.Signal != want.Signal || s.Exit.Cause != swarm.CauseExited {
		w.t.Errorf("status %+v, exit %+v, %v", s, s.Exit, err)
	}
}

// TestInputArrives gives everything that a pipe can carry.
func TestInputArrives(t *testing.T) {
	t.Parallel()
	w := talkTo(t, true, "cat >got")
	large := make([]byte, swarm.MaxInput)
	if _, err := rand.Read(large); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for _, data := range [][]byte{
		[]byte("one\ntwo\r\n\nthree"), []byte("--help -x"), []byte("\x00\x03\x04\x1b[31m\x7f\xff"), large, nil,
	} {
		w.give(swarm.Input{Data: data, Enter: true})
		want.Write(data)
		want.WriteByte('\n')
	}
	w.give(swarm.Input{Kind: swarm.InputEOF})
	w.exits(swarm.Exit{})
	got, err := os.ReadFile(filepath.Join(w.spec.Dir, "got"))
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%d of %d bytes arrived, %v", len(got), want.Len(), err)
	}
	w.refuses(swarm.Input{Data: []byte("x")}, swarm.ErrNotFound, "has ended")
}

func TestInputAfterEOF(t *testing.T) {
	t.Parallel()
	w := talkTo(t, true, "cat >/dev/null; exec sleep 999")
	w.give(swarm.Input{Kind: swarm.InputEOF})
	w.refuses(swarm.Input{Data: []byte("x")}, swarm.ErrInvalidSpec, "closed")
}

func TestInputWithoutStdin(t *testing.T) {
	t.Parallel()
	w := talkTo(t, false, "trap 'exit 9' INT; echo ready; cat; while :; do sleep 0.05; done")
	w.refuses(swarm.Input{Data: []byte("x"), Enter: true}, swarm.ErrInvalidSpec, "standard input")
	w.refuses(swarm.Input{Kind: swarm.InputEOF}, swarm.ErrInvalidSpec, "standard input")
	w.says("ready")
	w.give(swarm.Input{Kind: swarm.InputInterrupt})
	w.exits(swarm.Exit{Code: 9})
}

// TestUnreadInput checks that input is pending if the worker does not read it.
func TestUnreadInput(t *testing.T) {
	t.Parallel()
	w := talkTo(t, true, "exec sleep 999")
	if r := w.give(swarm.Input{Data: make([]byte, swarm.MaxInput), Enter: true}); !r.Pending {
		t.Errorf("result %+v", r)
	}
}

func TestSignal(t *testing.T) {
	t.Parallel()
	w := talkTo(t, false, "exec sleep 999")
	if err := w.backend.Signal(t.Context(), w.handle, swarm.SignalOptions{Signal: "usr1"}); err != nil {
		t.Fatal(err)
	}
	w.exits(swarm.Exit{Code: -1, Signal: "SIGUSR1"})
}
