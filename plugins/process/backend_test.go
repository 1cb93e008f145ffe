package process_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestContract is TestBinary in this process, where the race detector sees the backend.
func TestContract(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("TestBinary runs the same cases")
	}
	backendtest.Run(t, backendtest.Backend{
		New:   func(backendtest.T) swarm.Backend { return process.New(slog.New(slog.DiscardHandler)) },
		Local: true,
		Shim:  shimPath,
	})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	backendtest.RunBinary(t, backendtest.Binary{Path: pluginPath, Shim: shimPath})
}

func specOf(t *testing.T, command ...string) swarm.Spec {
	t.Helper()
	state := t.TempDir()
	spec := swarm.Spec{
		ID: "id-1", Name: "worker", Command: command, Dir: state,
		Kill:  swarm.KillOptions{Grace: time.Second, Force: true},
		Local: &swarm.Local{RunDir: filepath.Join(state, "run"), StateDir: state, Shim: shimPath, HostEnv: os.Environ()},
	}
	if err := os.Mkdir(spec.Local.RunDir, 0o700); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestInvalidSpec(t *testing.T) {
	t.Parallel()
	b := process.New(slog.New(slog.DiscardHandler))
	for name, test := range map[string]struct {
		change func(*swarm.Spec)
		text   string
	}{
		"option":     {func(s *swarm.Spec) { s.Options = map[string]string{"session": "x"} }, `unknown option "session"`},
		"no command": {func(s *swarm.Spec) { s.Command = nil }, "no command"},
		"not local":  {func(s *swarm.Spec) { s.Local = nil }, "this machine"},
		"long path": {func(s *swarm.Spec) {
			s.Local.RunDir = "/" + strings.Repeat("x", swarm.MaxHandle)
		}, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(t, "true")
			test.change(&spec)
			_, err := b.Spawn(t.Context(), spec)
			if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestHandleStays reads a handle of the first version, as a registry has it.
func TestHandleStays(t *testing.T) {
	t.Parallel()
	b := process.New(slog.New(slog.DiscardHandler))
	spec := specOf(t, "sh", "-c", "exit 3")
	h, err := b.Spawn(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"id":"id-1","dir":"` + spec.Local.RunDir + `"}`; h.Version != 1 || string(h.Data) != want {
		t.Errorf("handle %d %s", h.Version, h.Data)
	}
	s, err := lastStatus(t.Context(), b, h)
	if err != nil || s.Exit == nil || s.Exit.Code != 3 {
		t.Errorf("status %+v, %v", s, err)
	}
}

// lastStatus returns the status of a worker at its end.
func lastStatus(ctx context.Context, b swarm.Watcher, h swarm.Handle) (s swarm.Status, err error) {
	err = b.Watch(ctx, h, func(now swarm.Status) error {
		s = now
		return nil
	})
	return s, err
}
