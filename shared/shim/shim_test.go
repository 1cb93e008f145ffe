package shim_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// shimPath is the real shim, built for these tests.
var shimPath string

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "swarm-shim-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shimPath = filepath.Join(dir, "swarm-shim")
	if err := buildtest.Programs(dir, "github.com/swarmhost/swarm/cmd/swarm-shim"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	code = m.Run()
}

// noted is a handle that holds more than a worker.
type noted struct {
	shim.Worker
	Note string `json:"note"`
}

// TestHandles reads what was written, and refuses the rest.
func TestHandles(t *testing.T) {
	t.Parallel()
	want := noted{shim.Worker{ID: "w", Dir: "/run/w"}, "ä"}
	h, err := shim.EncodeHandle(2, want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := shim.DecodeHandle[noted](h, 2); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for what, h := range map[string]swarm.Handle{
		"of another version":        {Version: 1, Data: h.Data},
		"damaged":                   {Version: 2, Data: h.Data[:len(h.Data)-1]},
		"without an id":             {Version: 2, Data: []byte(`{"dir":"/run/w"}`)},
		"with a relative directory": {Version: 2, Data: []byte(`{"id":"w","dir":"run/w"}`)},
	} {
		if got, err := shim.DecodeHandle[noted](h, 2); !errors.Is(err, swarm.ErrInvalidHandle) {
			t.Errorf("a handle %s: %+v, %v", what, got, err)
		}
	}
	if _, err := shim.EncodeHandle(1, shim.Worker{ID: "w", Dir: "/" + strings.Repeat("d", swarm.MaxHandle)}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a handle that is too large: %v", err)
	}
}

// TestBackend has a backend with a shim for each worker do what its interface says.
func TestBackend(t *testing.T) {
	t.Parallel()
	b := shim.Kept{Read: func(h swarm.Handle) (shim.Worker, error) { return shim.DecodeHandle[shim.Worker](h, 1) }}
	local := &swarm.Local{RunDir: t.TempDir(), StateDir: t.TempDir(), Shim: shimPath, HostEnv: os.Environ()}
	spec := swarm.Spec{
		ID: "id-1", Name: "w", Dir: "/", Command: []string{"sleep", "600"},
		Kill: swarm.KillOptions{Grace: time.Second, Force: true}, Local: local,
	}
	lookup := swarm.Lookup{ID: spec.ID, Local: local}
	if err := shim.CheckSpawn(swarm.SpawnCheck{Spec: spec}); err != nil {
		t.Errorf("CheckSpawn: %v", err)
	}
	if err := shim.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	h, err := shim.EncodeHandle(1, shim.Worker{ID: spec.ID, Dir: local.RunDir})
	if err != nil {
		t.Fatal(err)
	}
	if err := shim.Start(t.Context(), spec); !errors.Is(err, swarm.ErrExists) {
		t.Errorf("a second Start: %v", err)
	}
	if err := shim.Recover(t.Context(), lookup); err != nil {
		t.Errorf("Recover: %v", err)
	}
	if err := shim.Recover(t.Context(), swarm.Lookup{ID: spec.ID}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("Recover without a run directory: %v", err)
	}
	statuses, err := b.StatusBatch(t.Context(), []swarm.Handle{h, {Version: 2}})
	if err != nil || len(statuses) != 2 || statuses[0].Status.State != swarm.StateRunning || !errors.Is(statuses[1].Err, swarm.ErrInvalidHandle) {
		t.Errorf("StatusBatch: %+v, %v", statuses, err)
	}
	times, err := b.CPUTimes(t.Context(), []swarm.Handle{h, {Version: 2}})
	if err != nil || len(times) != 2 || times[0].Err != nil || times[0].Stats.CPUTime == nil || !errors.Is(times[1].Err, swarm.ErrInvalidHandle) {
		t.Errorf("CPUTimes: %+v, %v", times, err)
	}
	if r, err := b.Kill(t.Context(), h, swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil || r.Status.State != swarm.StateExited {
		t.Errorf("Kill: %+v, %v", r, err)
	}
	if err := shim.Recover(t.Context(), lookup); err != nil {
		t.Errorf("Recover after the end: %v", err)
	}
}

// TestStartFails starts nothing that a spec does not allow.
func TestStartFails(t *testing.T) {
	t.Parallel()
	local := &swarm.Local{RunDir: t.TempDir(), StateDir: t.TempDir(), Shim: shimPath, HostEnv: os.Environ()}
	spec := swarm.Spec{ID: "id-1", Name: "w", Dir: "/", Command: []string{"true"}, Local: local, Sandbox: &swarm.Sandbox{Network: "some"}}
	if err := shim.Start(t.Context(), spec); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a sandbox that can't be made: %v", err)
	}
	spec.Sandbox, spec.Command = nil, []string{"/none/such"}
	if err := shim.Start(t.Context(), spec); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a program that does not exist: %v", err)
	}
	if err := shim.Recover(t.Context(), swarm.Lookup{ID: spec.ID, Local: local}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("Recover: %v", err)
	}
}
