// The tests start the built programs as agents do, and call tools on real workers.
package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/proc"
)

// patience is how long anything may take that must happen soon.
const patience = time.Minute

// bin is where the programs under test are.
var bin string

func TestMain(m *testing.M) {
	if socket := os.Getenv(askVar); socket != "" {
		os.Exit(ask(socket))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "swarm-mcp-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = dir
	err = errors.Join(
		buildtest.Programs(bin, "github.com/swarmhost/swarm/cmd/..."),
		buildtest.Program(bin+"/swarm-plugin-opaque", "./testdata/opaque"),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// askVar names the socket of a server, for the test's program as a client of it.
const askVar = "SWARM_TEST_ASK"

// ask asks a server and prints what it answers before it closes the connection.
func ask(socket string) int {
	conn, err := net.DialTimeout("unix", socket, patience)
	if err == nil {
		_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"))
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		buf := make([]byte, 1)
		var n int
		if n, err = conn.Read(buf); n > 0 || errors.Is(err, io.EOF) {
			_, _ = os.Stdout.Write(buf[:n])
			err = nil
		}
	}
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// world is a state directory, a home and a working directory of a test's own.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir}
	for _, sub := range []string{"h", "w", "t"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(w.end)
	return w
}

// shortDir makes a directory with a short path: there are sockets in it.
func shortDir() (string, error) { return os.MkdirTemp("/tmp", "sm") }

// end ends all that is left, of which only swarm's own may be alive.
func (w *world) end() {
	// The context of a test has ended when its clean-up runs.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := os.Stat(w.state()); err == nil {
		if out, err := w.command(ctx, "swarm", "kill", "--all", "--signal", "KILL").CombinedOutput(); err != nil {
			w.Errorf("swarm kill --all: %v\n%s", err, out)
		}
	}
	w.until("no process is left", func() bool { return len(w.alive("")) == 0 })
	if err := os.RemoveAll(w.dir); err != nil {
		w.Error(err)
	}
}

func (w *world) state() string { return filepath.Join(w.dir, "s") }

func (w *world) path(name string) string { return filepath.Join(w.dir, "w", name) }

func (w *world) env() []string {
	return []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(w.dir, "h"), "SWARM_DIR=" + w.state(), "TMUX_TMPDIR=" + filepath.Join(w.dir, "t"),
		"TMPDIR=" + filepath.Join(w.dir, "t"),
		// None of it is inside a worker, wherever the tests run.
		"SWARM_SHIM=test",
	}
}

func (w *world) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	if !strings.ContainsRune(program, filepath.Separator) {
		if own := filepath.Join(bin, program); exists(own) {
			program = own
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = w.env(), filepath.Join(w.dir, "w")
	return cmd
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// swarm runs a verb, which must exit with 0, and returns what it printed.
func (w *world) swarm(args ...string) string {
	w.Helper()
	out, err := w.command(w.Context(), "swarm", args...).CombinedOutput()
	if err != nil {
		w.Fatalf("swarm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// client is a client with a server of its own.
type client struct {
	*mcptest.Client
	w *world
}

// start starts a server, in an environment with env added, and a client of it.
func (w *world) start(o mcptest.Options, env ...string) *client {
	w.Helper()
	server := w.command(context.WithoutCancel(w.Context()), "swarm", "mcp", "--tools", "shells,workers,teams")
	server.Env = append(server.Env, env...)
	return w.connect(server, o)
}

// connect starts a program that is a server, or leads to one, and a client of it.
func (w *world) connect(server *exec.Cmd, o mcptest.Options) *client {
	w.Helper()
	server.Stderr = os.Stderr
	c, err := mcptest.Start(w.Context(), server, o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = c.Close() })
	return &client{c, w}
}

type object = map[string]any

// call calls a tool, which must not fail unless wantFailed, and returns its answer.
func (c *client) call(name string, input any, wantFailed bool) object {
	c.w.Helper()
	answer, err := c.try(c.w.Context(), &sdk.CallToolParams{Name: name, Arguments: input}, wantFailed)
	if err != nil {
		c.w.Fatal(err)
	}
	return answer
}

func (c *client) try(ctx context.Context, params *sdk.CallToolParams, wantFailed bool) (object, error) {
	raw, failed, err := c.ToolWith(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", params.Name, err)
	}
	var answer object
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", params.Name, err)
	}
	// A command may fail by itself, which is no error of the tool.
	command := answer["exit_code"] != nil && answer["error"] == nil
	if failed != wantFailed || !command && failed == answer["success"].(bool) {
		return nil, fmt.Errorf("%s: failed: %t, answer %s", params.Name, failed, raw)
	}
	return answer, nil
}

// shell starts a command in the background and returns its id.
func (c *client) shell(command string) string {
	c.w.Helper()
	return c.call("Bash", object{"command": command, "run_in_background": true}, false)["task_id"].(string)
}

// until waits until a condition holds.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-limit.C:
			w.Fatalf("it did not happen: %s; alive:\n%s", what, strings.Join(w.alive(""), "\n"))
		case <-tick.C:
		}
	}
}

// alive returns the pids and command lines of the test's processes whose command
// line contains a text.
func (w *world) alive(text string) []string {
	return slices.DeleteFunc(processesWith("SWARM_DIR="+w.state()), func(p string) bool { return !strings.Contains(p, text) })
}

// identity is that of a process of the test, for waiting.
func (w *world) identity(pid int) proc.Identity {
	w.Helper()
	id, err := proc.Identify(pid)
	if err != nil {
		w.Fatal(err)
	}
	return id
}
