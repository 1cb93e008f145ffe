//go:build nomad

package nomad_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/plugins/nomad/nomadtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workertest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// bootstrap returns the first token of a cluster.
func bootstrap(t *testing.T, c *api.Client) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workertest.Limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		token, _, err := c.ACLTokens().Bootstrap((&api.WriteOptions{}).WithContext(ctx))
		if err == nil {
			return token.SecretID
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
}

// documented returns the policy that docs/nomad.md shows.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "nomad.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```hcl\nnamespace ")
	policy, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("docs/nomad.md shows no policy")
	}
	return "namespace " + policy
}

// TestAgentKilled kills the agent while workers run. They continue, once, and their
// ends are known, also those between two looks.
func TestAgentKilled(t *testing.T) {
	t.Parallel()
	a := nomadtest.Start(t, "")
	b := open(t, settings(a.Address))
	starts := filepath.Join(t.TempDir(), "starts")
	gate := filepath.Join(t.TempDir(), "gate")
	stays := workertest.Spawn(t, b, specOf("stays", "sh", "-c", `echo stays >>"$0"; trap 'exit 6' USR1; while :; do sleep 0.1; done`, starts))
	ends := workertest.Spawn(t, b, specOf("ends", "sh", "-c", `echo ends >>"$0"; while [ ! -e "$1" ]; do sleep 0.1; done; echo bye; exit 5`, starts, gate))

	var waited swarm.Status
	var waitErr error
	var waiting sync.WaitGroup
	begun := make(chan struct{}, 10)
	waiting.Go(func() {
		waitErr = b.Watch(t.Context(), ends, func(st swarm.Status) error {
			waited = st
			begun <- struct{}{}
			return nil
		})
	})
	<-begun

	a.Kill()
	if _, err := b.Status(t.Context(), stays); !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), a.Address) {
		t.Errorf("without an agent: %v", err)
	}
	if _, err := b.Kill(t.Context(), stays, swarm.KillOptions{Force: true}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("kill without an agent: %v", err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	if st, err := b.Status(t.Context(), stays); err != nil || st.State != swarm.StateRunning {
		t.Errorf("afterwards: %+v, %v", st, err)
	}
	if st := workertest.Ended(t, b, ends); st.Exit == nil || st.Exit.Code != 5 || st.Exit.Cause != swarm.CauseExited {
		t.Errorf("what ended meanwhile: %+v %+v", st, st.Exit)
	}
	waiting.Wait()
	if waitErr != nil || waited.Exit == nil || waited.Exit.Code != 5 {
		t.Errorf("a Watch that saw all of it: %+v, %v", waited, waitErr)
	}
	if got := workertest.Lines(t, b, ends, swarm.OutputOptions{}); !slices.Equal(got, []string{"bye"}) {
		t.Errorf("output %q", got)
	}
	if _, err := b.Kill(t.Context(), stays, swarm.KillOptions{Signal: "SIGUSR1", Grace: workertest.Limit, Force: true}); err != nil {
		t.Errorf("kill: %v", err)
	}
	if st := workertest.Ended(t, b, stays); st.Exit == nil || st.Exit.Code != 6 || st.Exit.Cause != swarm.CauseKilled {
		t.Errorf("what was killed: %+v %+v", st, st.Exit)
	}
	data, err := os.ReadFile(starts)
	if got := strings.Fields(string(data)); err != nil || len(got) != 2 {
		t.Errorf("started: %q, %v", got, err)
	}
}
