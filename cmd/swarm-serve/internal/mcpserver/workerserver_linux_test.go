package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/proc"
)

// TestServesContainersAlone: a process outside can't pass for a worker by starting the server
// of that worker.
func TestServesContainersAlone(t *testing.T) {
	t.Parallel()
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	until := identity(self)
	for name, c := range map[string]struct{ container, want string }{
		"any group":    {"/", "needs the id of a container"},
		"no group":     {"", "needs the id of a container"},
		"no container": {strings.Repeat("a", 64), "is not in container"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			server := w.command(ctx, "swarm-serve", "mcp", "-worker", "leader", "-container", c.container, "-until", until)
			_, clients := listen(w)
			server.ExtraFiles = []*os.File{clients}
			if out, err := server.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// listen makes a socket for clients of a server, and returns its path.
func listen(w *world) (path string, clients *os.File) {
	w.Helper()
	path = filepath.Join(w.dir, "sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = l.Close() })
	if clients, err = l.File(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = clients.Close() })
	return path, clients
}

func identity(p proc.Identity) string {
	return strconv.Itoa(p.PID) + ":" + strconv.FormatUint(p.Start, 10) + ":" + p.Boot
}

// container is the id of the container that the control group is named after.
var container = strings.Repeat("ab", 32)

// contained is a server for clients in a control group with the name of a container, and a worker
// that does not run in that container.
type contained struct {
	*world
	server *exec.Cmd
	// log is where the server's standard error goes, socket where clients connect to.
	log, socket string
	inGroup     func(command string) *exec.Cmd
	// left is closed when the server has ended.
	left chan struct{}
}

func newContained(t *testing.T, flags ...string) *contained {
	t.Helper()
	machinetest.ControlGroups(t)
	group := newGroup(t, container)
	w := newWorld(t)
	w.swarm(append(append([]string{"spawn", "--name", "lead"}, flags...), "--", "sleep", "600")...)
	var worker struct{ ID string }
	if err := json.Unmarshal([]byte(w.swarm("status", "lead", "--json")), &worker); err != nil || worker.ID == "" {
		t.Fatalf("the worker's id: %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	c := &contained{world: w, log: filepath.Join(w.dir, "log"), left: make(chan struct{})}
	c.inGroup = func(command string) *exec.Cmd {
		return w.command(ctx, "sh", "-c", "echo $$ > "+filepath.Join(group, "cgroup.procs")+" && exec "+command)
	}
	first := c.inGroup("sleep 600")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Process.Kill(); _ = first.Wait() })
	id, err := proc.Identify(first.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	within(t, func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", id.PID))
		return err == nil && strings.Contains(string(b), container)
	})
	c.server = w.command(ctx, "swarm-serve", "mcp", "-worker", worker.ID, "-container", container, "-until", identity(id))
	c.server.Env = append(c.server.Env, "SWARM_LOG=warn")
	log, err := os.Create(c.log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	c.server.Stderr = log
	var clients *os.File
	c.socket, clients = listen(w)
	c.server.ExtraFiles = []*os.File{clients}
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.left)
		_ = c.server.Wait()
	}()
	t.Cleanup(func() { _ = c.server.Process.Kill(); <-c.left })
	return c
}

// ask starts a client in the control group, and returns what the server answers.
func (c *contained) ask() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	client := c.inGroup(self)
	client.Env = append(client.Env, askVar+"="+c.socket)
	out, err := client.CombinedOutput()
	return string(out), err
}

// TestServesTheWorkerOfTheContainer: who can make a control group with the name of a
// container still can't pass for a worker that does not run in that container.
func TestServesTheWorkerOfTheContainer(t *testing.T) {
	t.Parallel()
	c := newContained(t)
	if out, err := c.ask(); err != nil || out != "" {
		t.Errorf("the server answers %q, error %v", out, err)
	}
}

// TestServesByThePlace: the place of a worker says which container it runs in. A handle says
// nothing to the host, whatever it holds.
func TestServesByThePlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		place, handle string
		served        bool
	}{
		"of another author": {container, "opaque", true},
		"another place":     {strings.Repeat("cd", 32), container, false},
		"a part of it":      {container[:12], container, false},
		"no place":          {"", container, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newContained(t, "--backend", "opaque", "--option", "place="+c.place, "--option", "handle="+c.handle)
			if out, err := s.ask(); err != nil || (out != "") != c.served {
				t.Errorf("the server answers %q, error %v", out, err)
			}
		})
	}
}

// TestTooManyFilesEndNoServer: while the server can open no file its clients wait in the queue,
// and it serves them afterwards.
func TestTooManyFilesEndNoServer(t *testing.T) {
	t.Parallel()
	c := newContained(t)
	// It has opened all that it needs for its start once it holds its lock and accepts.
	if out, err := c.ask(); err != nil || out != "" {
		t.Fatalf("the server answers %q, error %v", out, err)
	}
	var before unix.Rlimit
	none := unix.Rlimit{}
	if err := unix.Prlimit(c.server.Process.Pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	none.Max = before.Max
	if err := unix.Prlimit(c.server.Process.Pid, unix.RLIMIT_NOFILE, &none, nil); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", c.socket)
	if err != nil {
		t.Fatal(err)
	}
	within(t, func() bool {
		select {
		case <-c.left:
			t.Fatal("the server has left")
		default:
		}
		b, _ := os.ReadFile(c.log)
		return strings.Contains(string(b), "too many open files")
	})
	_ = conn.Close()
	if err := unix.Prlimit(c.server.Process.Pid, unix.RLIMIT_NOFILE, &before, nil); err != nil {
		t.Fatal(err)
	}
	if out, err := c.ask(); err != nil || out != "" {
		t.Errorf("the server answers %q, error %v", out, err)
	}
	select {
	case <-c.left:
		t.Error("the server has left")
	default:
	}
}

// newGroup makes a control group of that name, below one of the test's own.
func newGroup(t *testing.T, name string) string {
	t.Helper()
	var err error
	for _, hierarchy := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		var above string
		if above, err = os.MkdirTemp(hierarchy, "swarm-test-"); err != nil { //nolint:usetesting // it is a group
			continue
		}
		group := filepath.Join(above, name)
		if err = os.Mkdir(group, 0o700); err == nil {
			_, err = os.Stat(filepath.Join(group, "cgroup.procs"))
		}
		t.Cleanup(func() {
			within(t, func() bool { return os.Remove(group) == nil || !exists(group) })
			_ = os.Remove(above)
		})
		if err == nil {
			return group
		}
	}
	t.Fatal(err)
	return ""
}

// within waits until something is true.
func within(t *testing.T, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("it did not become true")
		}
	}
}
