package pid1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/machinetest"
)

// childEnv makes the test binary the program that [Run] is called in, and names the shell script that
// its child becomes.
const childEnv = "SWARM_TEST_PID1"

func TestMain(m *testing.M) {
	script := os.Getenv(childEnv)
	if script == "" {
		os.Exit(m.Run())
	}
	if len(os.Args) == 2 && os.Args[1] == "record" {
		_ = os.WriteFile("recorded", nil, 0o600)
		return
	}
	if os.Getpid() == 1 {
		awaitZombie()
	}
	if code, ok := Run("record"); ok {
		os.Exit(code)
	}
	if !Inside() {
		fmt.Fprintln(os.Stderr, "Inside is false in the child")
		os.Exit(99)
	}
	err := syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ())
	fmt.Fprintln(os.Stderr, err)
	os.Exit(98)
}

// awaitZombie waits until the process in the file early, if there is one, has ended. A shell would reap it.
func awaitZombie() {
	pid, err := os.ReadFile("early")
	for err == nil {
		var stat []byte
		if stat, err = os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// container is a PID namespace whose first process is this program.
type container struct {
	*testing.T
	dir string
	cmd *exec.Cmd
	out strings.Builder
}

// start starts a container in which the child runs script, in a directory that has a program swarm-shim,
// which runs for 600 seconds.
func start(t *testing.T, script string) *container {
	t.Helper()
	return startAfter(t, "", script)
}

// startAfter is like start, but a shell is the first process and becomes this program after it has run
// the script before.
func startAfter(t *testing.T, before, script string) *container {
	t.Helper()
	machinetest.UserNamespaces(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := &container{T: t, dir: t.TempDir()}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.dir, shimName), program, 0o700) //nolint:gosec // it is run
	}
	if err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.CommandContext(ctx, "unshare", "-r", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", before+"\nexec \"$0\"", self)
	c.cmd.Dir, c.cmd.Env = c.dir, append(os.Environ(), childEnv+"="+script)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// await waits for a file that the script makes.
func (c *container) await(name string) {
	c.Helper()
	for !c.exists(name) {
		if c.Context().Err() != nil || c.cmd.Process.Signal(syscall.Signal(0)) != nil {
			c.Fatalf("there is no file %s: %s", name, c.out.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (c *container) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(c.dir, name))
	return err == nil
}

// terminate sends a SIGTERM to the first process, which is the child of unshare.
func (c *container) terminate() {
	c.Helper()
	pid := c.cmd.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		c.Fatal(err)
	}
	var first int
	if _, err := fmt.Sscan(string(text), &first); err != nil {
		c.Fatal(err)
	}
	if err := syscall.Kill(first, syscall.SIGTERM); err != nil {
		c.Fatal(err)
	}
}

// code waits for the end of the container.
func (c *container) code() int {
	c.Helper()
	err := c.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		c.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *container) want(code int) {
	c.Helper()
	if got := c.code(); got != code {
		c.Errorf("the exit code is %d, want %d: %s", got, code, c.out.String())
	}
}

// TestElsewhere: only the first process of a PID namespace does anything.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	if _, ok := Run("record"); ok || Inside() {
		t.Error("this process is taken for the first one of a container, or its child")
	}
}

// TestExitCode: that of the child, as a shell reports it. Without workers, nothing is recorded.
func TestExitCode(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 7": 7, "kill -KILL $$": 128 + 9, "true": 0} {
		c := start(t, script)
		c.want(want)
		if c.exists("recorded") {
			t.Errorf("%s: ends were recorded", script)
		}
	}
}

// TestOrphans are reaped while the child runs.
func TestOrphans(t *testing.T) {
	t.Parallel()
	start(t, `
		sh -c 'sleep 0.1 & echo $! > orphan'
		read -r pid < orphan
		test "$pid" -gt 1 || exit 3
		while test -e /proc/$pid; do sleep 0.01; done
		exit 5`).want(5)
}

// TestEarlyOrphans ended before this program began.
func TestEarlyOrphans(t *testing.T) {
	t.Parallel()
	startAfter(t, "true & echo $! > early", `
		read -r pid < early
		while test -e /proc/$pid; do sleep 0.01; done
		exit 5`).want(5)
}

// TestTerminated: the workers end first, then the child gets the signal, and the ends are recorded last.
func TestTerminated(t *testing.T) {
	t.Parallel()
	c := start(t, `
		trap 'test -e /proc/$shim && exit 3; test -e recorded && exit 4; exit 6' TERM
		./swarm-shim 600 &
		shim=$!
		while ! test "$(cat /proc/$shim/comm)" = swarm-shim; do sleep 0.01; done
		: > ready
		while :; do sleep 0.02; done`)
	c.await("ready")
	c.terminate()
	c.want(6)
}

// TestLeftWorkers of a child that has ended are ended too, and their ends recorded.
func TestLeftWorkers(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	c := start(t, `
		./swarm-shim 600 &
		while ! test "$(cat /proc/$!/comm)" = swarm-shim; do sleep 0.01; done
		exit 8`)
	c.want(8)
	if !c.exists("recorded") {
		t.Error("the ends of the workers were not recorded")
	}
	if took := time.Since(begin); took > 50*time.Second {
		t.Errorf("it took %s, as if the worker was not asked to end", took)
	}
}
