package backendtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// naive runs real processes and knows of no other than the main one.
type naive struct{ workers *sync.Map }

type naiveWorker struct {
	process *os.Process
	done    chan struct{}
}

func (n naive) Spawn(_ context.Context, s swarm.Spec) (swarm.Handle, error) {
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.Environ()
	if err := cmd.Start(); err != nil {
		return swarm.Handle{}, err
	}
	w := &naiveWorker{process: cmd.Process, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(w.done) }()
	n.workers.Store(s.ID, w)
	return swarm.Handle{Version: 1, Data: []byte(s.ID)}, nil
}

func (n naive) find(h swarm.Handle) (*naiveWorker, error) {
	w, ok := n.workers.Load(string(h.Data))
	if !ok {
		return nil, swarm.ErrInvalidHandle
	}
	return w.(*naiveWorker), nil
}

func (n naive) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	w, err := n.find(h)
	if err != nil {
		return swarm.Status{}, err
	}
	select {
	case <-w.done:
		return swarm.Status{
			State: swarm.StateExited,
			Exit:  &swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseExited, Time: time.Now()},
		}, nil
	default:
		return swarm.Status{State: swarm.StateRunning}, nil
	}
}

func (n naive) Kill(_ context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
	w, err := n.find(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	_ = w.process.Kill()
	<-w.done
	return swarm.KillResult{}, nil
}

// TestNaiveBackend: a backend that kills the main process alone fails every case about trees.
func TestNaiveBackend(t *testing.T) {
	t.Parallel()
	var workers sync.Map
	got := failures(t, Backend{Local: true, New: func(T) swarm.Backend { return naive{&workers} }},
		func(c testCase) bool { return c.local && c.name != "spawn-no-such-directory" })
	want := []string{"tree-by-its-main-process", "tree-is-forced", "tree-is-killed", "tree-of-a-killed-main-process", "tree-spawned-inside-a-worker"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failed cases (-want +got):\n%s", diff)
	}
}

// placed notes down its workers in their run directories. It looks where its handle says, or, if
// it asks, where the host says.
type placed struct {
	naive
	asks bool
}

func (p placed) Spawn(ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
	if _, err := p.naive.Spawn(ctx, s); err != nil {
		return swarm.Handle{}, err
	}
	note := filepath.Join(s.Local.RunDir, "note")
	return swarm.Handle{Version: 1, Data: []byte(note)}, os.WriteFile(note, nil, 0o600)
}

func (p placed) inner(ctx context.Context, h swarm.Handle) (swarm.Handle, error) {
	dir := filepath.Dir(string(h.Data))
	id := filepath.Base(dir)
	if p.asks {
		dir = swarm.RunDir(ctx, id, dir)
	}
	_, err := os.Stat(filepath.Join(dir, "note"))
	return swarm.Handle{Version: 1, Data: []byte(id)}, err
}

func (p placed) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	h, err := p.inner(ctx, h)
	if err != nil {
		return swarm.Status{}, err
	}
	return p.naive.Status(ctx, h)
}

func (p placed) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	h, err := p.inner(ctx, h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	return p.naive.Kill(ctx, h, o)
}

// TestMovedRunDirs: a backend that believes the path in its handle fails the cases about moved
// run directories, and one that asks for the place passes them.
func TestMovedRunDirs(t *testing.T) {
	t.Parallel()
	for asks, want := range map[bool][]string{false: {"moved-ended", "moved-running"}, true: nil} {
		var workers sync.Map
		got := failures(t, Backend{Local: true, New: func(T) swarm.Backend { return placed{naive{&workers}, asks} }},
			func(c testCase) bool { return strings.HasPrefix(c.name, "moved-") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("asks %t: failed cases (-want +got):\n%s", asks, diff)
		}
	}
}
