// Package nomadtest runs real Nomad agents for tests: a server and a client in one
// process, which keep what they know on disk, so that they can be killed and
// started again.
//
// The agent is the program that the variable SWARM_TEST_NOMAD names; `make
// test-nomad` builds one. It is imported by tests only.
package nomadtest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/leftover"
	"github.com/swarmhost/swarm/shared/sleep"
)

// EnvAgent names the variable that holds the path of the agent.
const EnvAgent = "SWARM_TEST_NOMAD"

// Agent is an agent of its own cluster.
type Agent struct {
	// Address is where it is reached.
	Address string
	// rpc is the port at which nodes reach the server.
	rpc int
	dir string
	cmd *exec.Cmd
	log *os.File
}

const config = `
data_dir             = "%[1]s/data"
bind_addr            = "127.0.0.1"
disable_update_check = true
ports {
  http = %[2]d
  rpc  = %[3]d
  serf = %[4]d
}
advertise {
  http = "127.0.0.1:%[2]d"
  rpc  = "127.0.0.1:%[3]d"
  serf = "127.0.0.1:%[4]d"
}
limits {
  http_max_conns_per_client = 0
}
%[6]s
client {
  enabled           = true
  network_interface = "lo"
  gc_max_allocs     = 10000
  gc_disk_usage_threshold  = 100
  gc_inode_usage_threshold = 100
  cpu_total_compute = 1000000
  servers           = ["127.0.0.1:%[7]d"]
  options {
    "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean"
  }
}
plugin "raw_exec" {
  config {
    enabled = true
  }
}
%[5]s
`

// Run starts an agent in a new directory and calls f with it; more is added to its
// configuration. The tasks of the agent end with it.
func Run(more string, f func(*Agent) error) (err error) {
	return run(server, 0, more, f)
}

// server is the configuration of a server that soon notices that a node is away.
const server = `
server {
  enabled           = true
  bootstrap_expect  = 1
  heartbeat_grace   = "2s"
  min_heartbeat_ttl = "2s"
}`

// run starts an agent with that configuration as a server, or as a node of the server at the port.
func run(server string, rpc int, more string, f func(*Agent) error) (err error) {
	path := os.Getenv(EnvAgent)
	if path == "" {
		return fmt.Errorf("%s is not set to a nomad agent: run the tests with `make test-nomad`, which builds one", EnvAgent)
	}
	dir, err := leftover.MkdirTemp("", "nomad")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, leftover.RemoveAll(dir)) }()
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	a := &Agent{Address: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), rpc: cmp.Or(rpc, ports[1]), dir: dir}
	text := fmt.Sprintf(config, dir, ports[0], ports[1], ports[2], more, server, a.rpc)
	if err := os.WriteFile(filepath.Join(dir, "agent.hcl"), []byte(text), 0o600); err != nil {
		return err
	}
	if a.log, err = os.Create(filepath.Join(dir, "agent.log")); err != nil {
		return err
	}
	defer func() { _ = a.log.Close() }()
	if err := a.Start(); err != nil {
		return err
	}
	defer a.leave()
	return f(a)
}

// Start starts the agent, again if it was killed, and returns once it takes jobs.
func (a *Agent) Start() error {
	a.cmd = exec.Command(os.Getenv(EnvAgent), "agent", "-config", filepath.Join(a.dir, "agent.hcl")) //nolint:noctx // ends with Kill
	a.cmd.Stdout, a.cmd.Stderr = a.log, a.log
	if err := a.cmd.Start(); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := a.Client()
	if err == nil {
		err = a.Ready(ctx, c)
	}
	if err != nil {
		log, _ := os.ReadFile(a.log.Name())
		a.Kill()
		return fmt.Errorf("the agent does not get ready: %w\n%s", err, log[max(0, len(log)-4096):])
	}
	return nil
}

// Ready waits for a node, then for the keys without which there are no variables. An
// agent that wants a token which c does not have is not waited for.
func (a *Agent) Ready(ctx context.Context, c *api.Client) error {
	for {
		nodes, _, err := c.Nodes().List((&api.QueryOptions{}).WithContext(ctx))
		if err != nil && strings.Contains(err.Error(), "403") {
			return nil
		}
		if err == nil && len(nodes) > 0 && nodes[0].Status == "ready" {
			v := &api.Variable{Path: "nomadtest/ready", Items: api.VariableItems{"yes": "1"}}
			if _, _, err = c.Variables().Update(v, (&api.WriteOptions{}).WithContext(ctx)); err == nil {
				return nil
			}
		}
		if over := sleep.For(ctx, 50*time.Millisecond); over != nil {
			return fmt.Errorf("%w: %w", over, err)
		}
	}
}

func (a *Agent) Client() (*api.Client, error) {
	return api.NewClient(&api.Config{Address: a.Address})
}

// Kill kills the agent with SIGKILL. Its tasks keep running.
func (a *Agent) Kill() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

func (a *Agent) leave() {
	if c, err := a.Client(); err == nil {
		a.stopJobs(c)
	}
	_ = a.cmd.Process.Signal(syscall.SIGINT)
	limit := time.AfterFunc(10*time.Second, func() { _ = a.cmd.Process.Kill() })
	_ = a.cmd.Wait()
	limit.Stop()
	// The mounts that the agent, as root, makes for a task stay until it collects the task.
	for _, name := range []string{"secrets", "private"} {
		mounts, _ := filepath.Glob(filepath.Join(a.dir, "data/alloc/*/*", name))
		for _, m := range mounts {
			_ = syscall.Unmount(m, 0)
		}
	}
}

func (a *Agent) stopJobs(c *api.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	jobs, _, err := c.Jobs().List((&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return
	}
	for _, j := range jobs {
		_, _, _ = c.Jobs().Deregister(j.ID, false, (&api.WriteOptions{}).WithContext(ctx))
	}
	var index uint64
	for {
		q := &api.QueryOptions{WaitIndex: index, WaitTime: time.Second, Filter: `ClientStatus == "running" or ClientStatus == "pending"`}
		allocs, meta, err := c.Allocations().List(q.WithContext(ctx))
		if err != nil || len(allocs) == 0 {
			return
		}
		index = meta.LastIndex
	}
}

func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // returns at once
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// Start returns an agent of the test's own, which leaves with it.
func Start(t *testing.T, more string) *Agent {
	t.Helper()
	return start(t, server, 0, more)
}

// Join returns another node of the agent's cluster, with that name, which leaves with the test.
func (a *Agent) Join(t *testing.T, name string) *Agent {
	t.Helper()
	return start(t, "", a.rpc, fmt.Sprintf("name = %q", name))
}

func start(t *testing.T, server string, rpc int, more string) *Agent {
	t.Helper()
	var err error
	next, leave := iter.Pull(func(yield func(*Agent) bool) {
		err = run(server, rpc, more, func(a *Agent) error {
			yield(a) // returns when the test has ended
			return nil
		})
	})
	t.Cleanup(func() {
		if leave(); err != nil {
			t.Error(err)
		}
	})
	a, ok := next()
	if !ok {
		t.FailNow() // the error is reported above
	}
	return a
}
