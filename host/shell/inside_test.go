package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
)

// These variables make the test program act as another program.
const (
	// roleVar says what, stateVar names the state directory, binVar where the
	// programs are, markVar is the variable that all workers of a world have.
	roleVar  = "SWARM_SHELL_ROLE"
	stateVar = "SWARM_SHELL_STATE"
	binVar   = "SWARM_SHELL_BIN"
	markVar  = "SWARM_SHELL_TEST"
)

// as is the environment of the test program in another role.
func (w *world) as(role string) []string {
	return []string{roleVar + "=" + role, stateVar + "=" + w.state, binVar + "=" + bin, w.mark}
}

// inside is a program in a worker, which begins a shell without saying of which
// session it is, writes down which shells it then sees, and continues.
func inside() {
	ctx := context.Background()
	h := hostInside(ctx)
	state := os.Getenv(stateVar)
	if _, err := shell.Start(ctx, h, shell.Command{Command: `exec sleep 999`, Dir: state}); err != nil {
		panic(err)
	}
	shells, err := shell.List(ctx, h, shell.Session{}, true)
	if err != nil {
		panic(err)
	}
	var ids []string
	for _, sh := range shells {
		ids = append(ids, sh.ID)
	}
	b, err := json.Marshal(ids)
	if err != nil {
		panic(err)
	}
	name := os.Getenv("SWARM_WORKER")
	if err := os.WriteFile(name+".tmp", b, 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		panic(err)
	}
	select {}
}

// hostInside is a host for a program in a worker: that is proved by the worker's
// shim, whatever a client left of its environment.
func hostInside(ctx context.Context) *host.Host {
	o := options(os.Getenv(stateVar), "")
	o.Env = []string{"PATH=" + os.Getenv("PATH"), markVar + "=" + os.Getenv(markVar)}
	h, err := host.Open(ctx, o)
	if err != nil {
		panic(err)
	}
	return h
}

// suicide is a program in a shell that kills this very shell.
func suicide() {
	ctx := context.Background()
	h := hostInside(ctx)
	res, err := shell.Kill(ctx, h, session, gently(os.Getenv("SWARM_WORKER")))
	fmt.Println(res.Success, res.SignalSent, res.Problem, err)
	fmt.Println(res.AfterAnswer(ctx))
	select {}
}

// TestKillFromInside: who kills the shell that it runs in has the answer before.
func TestKillFromInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	sh := w.start(h, session, strings.Join(w.as("suicide"), " ")+" exec "+os.Args[0])
	now, out := w.ended(h, session, sh.ID)
	if !strings.HasPrefix(out, "true SIGTERM  <nil>\n") || now.Status != shell.Killed {
		t.Errorf("%q, %+v", out, now)
	}
	w.wantNone()
}

// TestShellsOfWorkers: what is begun in a worker is the worker's, and no other's
// but a person's.
func TestShellsOfWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	mine := w.start(h, shell.Session{}, `exec sleep 999`)
	seen := make(map[string]bool)
	for _, name := range []string{"a", "b"} {
		_, err := h.Spawn().Spawn(t.Context(), spawn.Request{
			Name: name, Backend: "process", Command: []string{os.Args[0]}, Dir: w.dir, Env: w.as("inside"),
		})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		w.wait("the worker has listed its shells", func() bool {
			b, err := os.ReadFile(w.dir + "/" + name)
			return err == nil && json.Unmarshal(b, &ids) == nil
		})
		if len(ids) != 1 || seen[ids[0]] || ids[0] == mine.ID {
			t.Errorf("%s sees %v", name, ids)
		}
		seen[ids[0]] = true
	}
	if got := w.list(h, shell.Session{}, false); len(got) != 3 {
		t.Errorf("a person sees %v", got)
	}
	// The worker's end is not that of its shells: they have no owner.
	if _, err := h.Kill().Kill(t.Context(), worker.Selection{Names: []string{"a", "b"}}, kill.Request{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(3, len(w.list(h, shell.Session{}, false))); diff != "" {
		t.Error(diff)
	}
}
