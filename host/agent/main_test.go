package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/buildtest"
)

// bin is where the programs are that a host needs.
var bin string

// These make the test program act as another program. Agents, and callers that are killed
// during a call, are processes of their own.
const (
	asCaller = "call"
	asServer = "serve"
)

func TestMain(m *testing.M) {
	var code int
	if len(os.Args) > 2 && os.Args[1] == asCaller {
		code = callAndPrint(os.Args[2])
	} else if len(os.Args) > 2 && os.Args[1] == asServer {
		code = listen(os.Args[2])
	} else {
		code = testMain(m)
	}
	os.Exit(code)
}

func testMain(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "swarm-agent-test"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(bin) }()
	const cmd = "github.com/swarmhost/swarm/cmd/"
	err = errors.Join(
		buildtest.Programs(bin, cmd+"swarm-shim", cmd+"swarm-plugins"),
		buildtest.Program(bin+"/swarm-plugin-stubborn", "./testdata/stubborn"),
		buildtest.Program(bin+"/swarm-plugin-bare", "../../cmd/swarm/testdata/bare"),
	)
	if err != nil {
		panic(err)
	}
	return m.Run()
}

// call is what a process has to ask for, in the environment in which it is.
type call struct {
	Bin, Dir string
	Kill     *killCall             `json:",omitempty"`
	Respond  *agent.RespondRequest `json:",omitempty"`
	Spawn    *agent.SpawnRequest   `json:",omitempty"`
}

type killCall struct {
	Team, Agent string
	Force       bool
}

// answer is what it prints.
type answer struct {
	Phase      registry.ShutdownPhase
	Reassigned []string
	Warnings   []string
	Error      string
}

func callAndPrint(text string) int {
	var c call
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	h, err := host.Open(ctx, host.Options{Dir: c.Dir, Executable: filepath.Join(c.Bin, "swarm"), Env: os.Environ()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	a, after, err := c.do(ctx, h)
	if err != nil {
		a.Error = err.Error()
	}
	err = json.NewEncoder(os.Stdout).Encode(a)
	if after != nil {
		err = errors.Join(err, after(ctx))
	}
	if err = errors.Join(err, h.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (c call) do(ctx context.Context, h *host.Host) (answer, func(context.Context) error, error) {
	if c.Kill != nil {
		k, err := agent.Kill(ctx, h, agent.KillRequest{TeamName: c.Kill.Team, AgentID: c.Kill.Agent, Force: c.Kill.Force})
		return answer{Phase: k.Phase, Reassigned: k.ReassignedTasks, Warnings: k.Warnings}, k.AfterAnswer, err
	}
	if c.Spawn != nil {
		s, err := agent.Spawn(ctx, h, *c.Spawn)
		return answer{Warnings: s.Warnings}, nil, err
	}
	r, err := agent.Respond(ctx, h, *c.Respond)
	return answer{Phase: r.Phase, Reassigned: r.ReassignedTasks, Warnings: r.Warnings}, r.AfterAnswer, err
}

// listen is a server: it answers at a port until it is ended.
func listen(port string) int {
	l, err := net.Listen("tcp", net.JoinHostPort(agent.ServerHost, port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		_ = c.Close()
	}
}
