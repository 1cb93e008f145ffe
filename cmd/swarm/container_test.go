//go:build container

package main_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	moby "github.com/moby/moby/client"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/swarmhost/swarm/plugins/container/enginetest"
)

type engineKey struct{}

// containerLimit is how long one script may take.
const containerLimit = 3 * time.Minute

// TestContainer runs the scripts of testdata/container, each with each engine.
func TestContainer(t *testing.T) {
	t.Parallel()
	kinds := []string{enginetest.Docker, enginetest.Podman}
	if only := os.Getenv(enginetest.EnvOnly); only != "" {
		kinds = []string{only}
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Start(t, kind)
			// A group, so that the engine is there until the last one is done.
			t.Run("script", func(t *testing.T) { runContainer(t, e) })
		})
	}
}

func runContainer(t *testing.T, e *enginetest.Engine) {
	t.Helper()
	cmds := maps.Clone(commands)
	cmds["containers"], cmds["remove"], cmds["engine"], cmds["turnedaway"] = cmdContainers, cmdRemove, cmdEngine, cmdTurnedAway
	testscript.Run(t, testscript.Params{
		Dir: "testdata/container", Cmds: cmds, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			if err := setup(env); err != nil {
				return err
			}
			socket := filepath.Join(env.Getenv("ROOT"), "engine.sock")
			if err := os.Symlink(e.Socket, socket); err != nil {
				return err
			}
			env.Vars = append(env.Vars, "DOCKER_HOST=unix://"+socket, "IMAGE="+enginetest.Image, "REGISTRY="+e.Registry.Address)
			env.Values[engineKey{}] = e
			env.Values[worldKey{}].(*world).watchdog.Reset(containerLimit)
			dir := filepath.Join(env.Getenv("XDG_CONFIG_HOME"), "swarm")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			config := "[plugins.container]\nconfig = { image = \"" + enginetest.Image + "\", network = \"none\", pull = \"never\" }\n"
			return os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600)
		},
	})
}

// own returns the containers of the script's workers.
func own(ts *testscript.TestScript) (c *moby.Client, names []string) {
	c, err := ts.Value(engineKey{}).(*enginetest.Engine).Client()
	ts.Check(err)
	list, err := c.ContainerList(context.Background(), moby.ContainerListOptions{
		All: true, Filters: make(moby.Filters).Add("label", "swarm.state-dir="+ts.Getenv("SWARM_DIR")),
	})
	ts.Check(err)
	for _, item := range list.Items {
		names = append(names, strings.TrimPrefix(item.Names[0], "/"))
	}
	return c, names
}

// cmdContainers checks how many containers the engine has of the script: containers N.
func cmdContainers(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "containers N")
	_, names := own(ts)
	if args[0] != strconv.Itoa(len(names)) {
		ts.Fatalf("the engine has the containers %q", names)
	}
}

// cmdRemove removes the container of a worker, as a person does: remove WORKER.
func cmdRemove(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "remove WORKER")
	c, names := own(ts)
	for _, name := range names {
		if strings.HasPrefix(name, "swarm-"+args[0]+"-") {
			_, err := c.ContainerRemove(context.Background(), name, moby.ContainerRemoveOptions{Force: true})
			ts.Check(err)
		}
	}
}

// cmdTurnedAway connects to a socket N times, and fails if a server answers: turnedaway N
// SOCKET.
func cmdTurnedAway(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "turnedaway N SOCKET")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	paths, err := filepath.Glob(args[1])
	ts.Check(err)
	if len(paths) != 1 {
		ts.Fatalf("%q are %q", args[1], paths)
	}
	for range n {
		conn, err := net.DialTimeout("unix", paths[0], containerLimit)
		ts.Check(err)
		// The server may have closed it already.
		_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"))
		ts.Check(conn.SetReadDeadline(time.Now().Add(containerLimit)))
		answer, err := io.ReadAll(conn)
		if len(answer) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			ts.Fatalf("it answers %q, %v", answer, err)
		}
		ts.Check(conn.Close())
	}
}

// cmdEngine takes the engine away from the script, or gives it back: engine away|back.
func cmdEngine(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "engine away|back")
	socket := strings.TrimPrefix(ts.Getenv("DOCKER_HOST"), "unix://")
	if args[0] == "away" {
		ts.Check(os.Remove(socket))
		return
	}
	ts.Check(os.Symlink(ts.Value(engineKey{}).(*enginetest.Engine).Socket, socket))
}
