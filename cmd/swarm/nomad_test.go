//go:build nomad

package main_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/swarmhost/swarm/plugins/nomad/nomadtest"
)

type nomadKey struct{}

// nomadLimit is how long one script may take: one agent alone starts a few tasks a
// second.
const nomadLimit = 5 * time.Minute

// TestNomad runs the scripts of testdata/nomad, each in a namespace of its own of one
// cluster.
func TestNomad(t *testing.T) {
	t.Parallel()
	agent := nomadtest.Start(t, "")
	var n atomic.Int64
	// A group, so that the agent is there until the last one is done.
	t.Run("script", func(t *testing.T) {
		runNomad(t, "testdata/nomad", func(testscript.T) (*nomadtest.Agent, string) {
			return agent, fmt.Sprintf("script-%d", n.Add(1))
		})
	})
}

// TestNomadAlone runs the scripts of testdata/nomadalone, each with a cluster of its
// own.
func TestNomadAlone(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/nomadalone/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			agent := nomadtest.Start(t, "")
			t.Run("script", func(t *testing.T) {
				runNomad(t, "", func(testscript.T) (*nomadtest.Agent, string) { return agent, "own" }, script)
			})
		})
	}
}

func runNomad(t *testing.T, dir string, cluster func(testscript.T) (*nomadtest.Agent, string), files ...string) {
	t.Helper()
	cmds := maps.Clone(commands)
	cmds["agent"], cmds["requests"] = cmdAgent, cmdRequests
	each := 50 // a quarter of a crowd
	if os.Getenv("SWARM_TEST_SLOW") != "" {
		each = 10
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Files: files, Cmds: cmds, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			agent, namespace := cluster(env.T())
			client, err := agent.Client()
			if err != nil {
				return err
			}
			if _, err := client.Namespaces().Register(&api.Namespace{Name: namespace}, nil); err != nil {
				return fmt.Errorf("make the namespace of the script: %w", err)
			}
			env.Vars = append(env.Vars, "NOMAD_ADDR="+agent.Address, "NOMAD_NAMESPACE="+namespace,
				fmt.Sprintf("EACH=%d", each), fmt.Sprintf("LAST=%d", each-1), fmt.Sprintf("ALL=%d", 4*each))
			env.Values[nomadKey{}] = agent
			if err := setup(env); err != nil {
				return err
			}
			env.Values[worldKey{}].(*world).watchdog.Reset(nomadLimit)
			return nil
		},
	})
}

// cmdAgent kills the agent with SIGKILL, or starts it again: agent kill|start.
func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "agent kill|start")
	agent := ts.Value(nomadKey{}).(*nomadtest.Agent)
	if args[0] == "kill" {
		agent.Kill()
		return
	}
	ts.Check(agent.Start())
}

// cmdRequests runs a program, which must exit with 0, and counts what it asks the
// agent: requests MAX prog args…
func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "requests MAX prog args...")
	agent, err := url.Parse(ts.Value(nomadKey{}).(*nomadtest.Agent).Address)
	ts.Check(err)
	var asked atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(agent)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	address := ts.Getenv("NOMAD_ADDR")
	ts.Setenv("NOMAD_ADDR", server.URL)
	defer ts.Setenv("NOMAD_ADDR", address)
	ts.Check(ts.Exec(args[1], args[2:]...))
	limit, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	if n := asked.Load(); n > limit {
		ts.Fatalf("%d requests, at most %d are right", n, limit)
	}
}
