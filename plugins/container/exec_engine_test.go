//go:build container

package container_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/container/enginetest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workertest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// executed is a worker in which commands run.
type executed struct {
	*testing.T
	b *container.Backend
	h swarm.Handle
}

func newExecuted(t *testing.T, e *enginetest.Engine) executed {
	t.Helper()
	b := open(t, settings(e))
	return executed{t, b, workertest.Spawn(t, b, specOf(t, "sleep", "3600"))}
}

func (x executed) program(o swarm.ExecOptions) *exec.Cmd {
	x.Helper()
	p, err := x.b.Exec(x.Context(), x.h, o)
	if err != nil {
		x.Fatal(err)
	}
	return exec.Command(p.Command[0], p.Command[1:]...)
}

func (x executed) run(o swarm.ExecOptions) (out, errs string, code int) {
	x.Helper()
	cmd := x.program(o)
	var o1, o2 bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o1, &o2
	if err := cmd.Run(); cmd.ProcessState == nil {
		x.Fatal(err)
	}
	return o1.String(), o2.String(), cmd.ProcessState.ExitCode()
}

// processes returns the command lines in the container, but for the one that lists them.
func (x executed) processes() string {
	x.Helper()
	out, errs, code := x.run(swarm.ExecOptions{Command: []string{"ps", "-o", "args"}})
	if code != 0 {
		x.Fatalf("ps: exit code %d, %q", code, errs)
	}
	return out
}

func (x executed) await(what string, done func() bool) {
	x.Helper()
	for begun := time.Now(); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			x.Fatalf("%s; there are\n%s", what, x.processes())
		}
	}
}

func TestExec(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		x := newExecuted(t, e)
		sh := func(script string) []string { return []string{"sh", "-c", script} }
		for name, c := range map[string]struct {
			o         swarm.ExecOptions
			out, errs string
			code      int
		}{
			"code":            {swarm.ExecOptions{Command: sh("echo out; echo err >&2; exit 7")}, "out\n", "err\n", 7},
			"code of missing": {swarm.ExecOptions{Command: sh("echo mine; exit 127")}, "mine\n", "", 127},
			"missing":         {swarm.ExecOptions{Command: []string{"no-such"}}, "", "swarm: error: cannot exec: command not found: no-such\n", 127},
			"missing path":    {swarm.ExecOptions{Command: []string{"/no/such"}}, "", "swarm: error: cannot exec: command not found: /no/such\n", 127},
			"no program":      {swarm.ExecOptions{Command: []string{"/etc/passwd"}}, "", "permission denied", 126},
			"no directory":    {swarm.ExecOptions{Command: []string{"true"}, Dir: "/no/such"}, "", "no such directory in the container", 126},
			"directory":       {swarm.ExecOptions{Command: []string{"pwd"}, Dir: "tmp"}, "/tmp\n", "", 0},
			"variables":       {swarm.ExecOptions{Command: sh(`echo "$A|$B"`), Env: []string{"A=x=y", "B="}}, "x=y|\n", "", 0},
			"closed output":   {swarm.ExecOptions{Command: sh("exec >&- 2>&- <&-; sleep 1; exit 6")}, "", "", 6},
			"left behind":     {swarm.ExecOptions{Command: sh("sleep 4711 & exit 3")}, "", "", 3},
		} {
			out, errs, code := x.run(c.o)
			if out != c.out || c.errs == "" && errs != "" || !strings.Contains(errs, c.errs) || code != c.code {
				t.Errorf("%s: it wrote %q and %q, exit code %d", name, out, errs, code)
			}
		}
		if got := x.processes(); !strings.Contains(got, "sleep 4711\n") {
			t.Errorf("what a command has left behind has ended:\n%s", got)
		}
		out, _, code := x.run(swarm.ExecOptions{Command: sh("head -c 5000001 /dev/zero")})
		if len(out) != 5000001 || code != 0 {
			t.Errorf("%d bytes, exit code %d", len(out), code)
		}
		if err := x.b.SetPaused(t.Context(), x.h, true); err != nil {
			t.Fatal(err)
		}
		if _, err := x.b.Exec(t.Context(), x.h, swarm.ExecOptions{Command: []string{"true"}}); !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "paused") {
			t.Errorf("while it is paused: %v", err)
		}
	})
}

// TestExecOfKilled kills the program in every way: all processes that the command has started end, even those that ignore
// SIGTERM or have lost their parent.
func TestExecOfKilled(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		x := newExecuted(t, e)
		for name, c := range map[string]struct{ script, say string }{
			"mild":      {"exec sleep 5001", ""},
			"children":  {"sleep 5002 & (sleep 5002 &); setsid sleep 5002 & sleep 5002", ""},
			"deaf":      {"trap '' TERM; sleep 5003 & sleep 5003", ""},
			"stopped":   {"kill -STOP $$; sleep 5004", ""},
			"of SIGINT": {"sleep 5005", "INT"},
		} {
			t.Run(name, func(t *testing.T) {
				cmd := x.program(swarm.ExecOptions{Command: []string{"sh", "-c", "echo begun; " + c.script}})
				from, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(from, make([]byte, len("begun\n"))); err != nil {
					t.Fatal(err)
				}
				x.await("the command does not get far", func() bool { return strings.Contains(x.processes(), "500") })
				sig := os.Kill
				if c.say != "" {
					sig = os.Interrupt
				}
				_ = cmd.Process.Signal(sig)
				_ = cmd.Wait()
				x.await("something is left", func() bool { return !strings.Contains(x.processes(), "500") })
			})
		}
		// Killed at any moment of its start.
		for delay := range 12 {
			cmd := x.program(swarm.ExecOptions{Command: []string{"sleep", "5006"}})
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(delay) * 15 * time.Millisecond)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		x.await("something is left", func() bool { return !strings.Contains(x.processes(), "5006") })
		if st, err := x.b.Status(t.Context(), x.h); err != nil || st.State != swarm.StateRunning {
			t.Errorf("the worker: %+v, %v", st, err)
		}
	})
}
