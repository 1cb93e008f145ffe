package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
	"github.com/swarmhost/swarm/shared/proc"
)

// fiveShells starts five shells, trees of all kinds, one of which ignores SIGTERM.
func (c *client) fiveShells() {
	c.w.Helper()
	for _, command := range []string{
		`echo; exec sleep 2101`,
		`sleep 2102 & echo; wait`,
		`(setsid sleep 2103 &); echo; exec sleep 2104`,
		`while :; do echo again; sleep 0.05; done`,
		stubborn,
	} {
		c.ready(c.shell(command))
	}
	c.w.until("all of them have their processes", func() bool { return len(c.w.alive("sleep 2")) >= 6 })
}

// wantNothing waits until nothing of the server and its shells is left, without any
// further call.
func (w *world) wantNothing() {
	w.Helper()
	w.until("nothing is left", func() bool { return len(w.alive("")) == 0 })
}

func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	c.fiveShells()
	if err := c.Server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.wantNothing()
	if got := w.swarm("events"); strings.Contains(got, "DIED") {
		t.Errorf("history:\n%s", got)
	}
}

// TestServerLeaves: its shells are gone and their ends are written when it has left,
// however it was ended; other workers stay.
func TestServerLeaves(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*client) error{
		"end of input": func(c *client) error { return c.Close() },
		"SIGTERM":      func(c *client) error { return c.Server.Process.Signal(syscall.SIGTERM) },
		"SIGINT":       func(c *client) error { return c.Server.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.start(mcptest.Options{})
			w.swarm("spawn", "--name", "web", "--", "sleep", "1004")
			id := c.shell("sleep 2105 & sleep 2106")
			server := w.identity(c.Server.Process.Pid)
			if err := end(c); err != nil {
				t.Fatal(err)
			}
			if err := proc.AwaitEnd(t.Context(), server); err != nil {
				t.Fatal(err)
			}
			if left := w.alive("sleep 2"); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if got := w.swarm("events"); !strings.Contains(got, "["+id+"] KILLED: by orchestrator") {
				t.Errorf("history:\n%s", got)
			}
			if got := w.swarm("status", "web"); !strings.Contains(got, "running") {
				t.Errorf("the other worker: %s", got)
			}
		})
	}
}

// TestSignalInACall: a server that gets a signal does not wait for what is
// under way.
func TestSignalInACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := w.wire()
	x.greet()
	x.send(callLine(1, "Bash", `{"command":"touch here; sleep 2107"}`))
	w.until("the command runs", func() bool { return exists(w.path("here")) })
	if err := x.server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := x.server.Wait(); err != nil {
		t.Errorf("the server: %v", err)
	}
	w.wantNothing()
}

// TestSignalDuringAKill: its shells end in their own time, not in that of a
// kill that a client no longer waits for.
func TestSignalDuringAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	id := c.shell(stubborn)
	c.ready(id)
	var behind sync.WaitGroup
	defer behind.Wait()
	behind.Go(func() {
		// Whether it is still answered does not matter.
		_, _ = c.try(t.Context(), &sdk.CallToolParams{Name: "KillShell", Arguments: object{"shell_id": id, "timeout": 3600000}}, false)
	})
	w.until("the kill waits", func() bool { return strings.Contains(w.swarm("events"), "KILL REQUESTED") })
	if err := c.Server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.wantNothing()
}

// TestParentIsKilled: the input of the server is still open then.
func TestParentIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// The shell starts a server that has its streams, and stays.
	parent := w.command(t.Context(), "sh", "-c", "swarm mcp <&3 & echo $! >&2; wait")
	in, toServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer toServer.Close()
	parent.ExtraFiles = []*os.File{in}
	errs, err := parent.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	text, err := bufio.NewReader(errs).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	server := w.identity(pid)
	x := &wire{w: w, server: &exec.Cmd{}, in: toServer, lines: make(chan string, 1000)}
	go func() {
		defer close(x.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			x.lines <- s.Text()
		}
	}()
	x.greet()
	x.send(callLine(1, "Bash", `{"command":"sleep 2108","run_in_background":true}`))
	if id, m := x.answer(); id != 1.0 {
		t.Fatalf("%v", m)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := proc.AwaitEnd(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	w.wantNothing()
	_ = parent.Wait() // it was killed
}

// deaf starts a server for a client that reads nothing.
func (w *world) deaf() (server *exec.Cmd, in io.WriteCloser) {
	w.Helper()
	server = w.command(w.Context(), "swarm", "mcp")
	in, err := server.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	unread, out, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { unread.Close() })
	server.Stdout = out
	if err := server.Start(); err != nil {
		w.Fatal(err)
	}
	out.Close()
	return server, in
}

// leaves asks a server to leave, and waits until it has.
func (w *world) leaves(server *exec.Cmd, in io.Closer) {
	w.Helper()
	id := w.identity(server.Process.Pid)
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		w.Fatal(err)
	}
	if err := proc.AwaitEnd(w.Context(), id); err != nil {
		w.Fatal(err)
	}
	_ = in.Close()
	_ = server.Wait() // however it left
}

// TestClientReadsNothing: a client that is gone with a full pipe does not keep the
// server.
func TestClientReadsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server, in := w.deaf()
	x := &wire{w: w, in: in}
	x.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	for i := range 20 {
		x.send(callLine(i, "Bash", fmt.Sprintf(`{"command":"touch done%d; seq 1 5000"}`, i)))
	}
	for i := range 20 {
		w.until("the pipe is full", func() bool { return exists(w.path(fmt.Sprint("done", i))) })
	}
	w.until("the commands have ended", func() bool { return len(w.alive("seq")) == 0 })
	w.leaves(server, in)
}

// TestClientReadsNoRefusals is the same for a client that sends invalid messages.
func TestClientReadsNoRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server, in := w.deaf()
	// It is answered with as much.
	line := fmt.Sprintf(`{"jsonrpc":"1.0","id":"%s","method":"ping"}`, strings.Repeat("x", 900)) + "\n"
	var sent atomic.Int64
	var sending sync.WaitGroup
	sending.Go(func() {
		for {
			n, err := io.WriteString(in, line)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	// Each pipe holds up to 64 KiB, and so does the memory of the server.
	w.until("both pipes are full", func() bool { return sent.Load() > 155_000 })
	w.leaves(server, in)
	sending.Wait()
}
