package backendtest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The commands of the cases are for a POSIX shell, which the surroundings of the workers have to have.

func execCases() []testCase {
	needs := scope{needs: swarm.CapExec}
	return []testCase{
		newCase("exec-environment", needs,
			"a command of Exec has the environment of the worker, in which ExecOptions.Env replaces variables and adds others",
			func(k *kit) {
				w := k.spawn(script.Say, script.ValueVar+"=worker", "PLUGINTEST_OTHER=kept")
				w.wantLine("worker")
				show := []string{"sh", "-c", `echo "$` + script.ValueVar + `,$PLUGINTEST_OTHER,$PLUGINTEST_MORE"`}
				w.wantExec(swarm.ExecOptions{Command: show}, "worker,kept,\n", 0)
				w.wantExec(swarm.ExecOptions{Command: show, Env: []string{script.ValueVar + "=command", "PLUGINTEST_MORE=a b"}}, "command,kept,a b\n", 0)
			}),
		newCase("exec-directory", needs,
			"a command of Exec runs in the directory of the worker, or in ExecOptions.Dir, which may be relative to that",
			func(k *kit) {
				w := k.ready(script.Sleep)
				show := []string{"pwd", "-P"}
				own, _, code := w.exec(swarm.ExecOptions{Command: show})
				if real, err := filepath.EvalSymlinks(w.spec.Dir); w.local && (err != nil || own != real+"\n") || code != 0 {
					k.Broken("without a directory it is in %q, exit code %d; the worker is in %q", own, code, w.spec.Dir)
				}
				w.wantExec(swarm.ExecOptions{Command: show, Dir: "."}, own, 0)
				w.wantExec(swarm.ExecOptions{Command: show, Dir: "/"}, "/\n", 0)
			}),
		newCase("exec-streams", needs,
			"a command of Exec has the standard input, output and error of the program, each as it is",
			func(k *kit) {
				w := k.ready(script.Sleep)
				cmd := w.program(swarm.ExecOptions{Command: []string{"sh", "-c", "cat; echo problem >&2"}})
				cmd.Stdin = strings.NewReader("a\x00b\r\n")
				if out, errs, code := w.ran(cmd); out != "a\x00b\r\n" || errs != "problem\n" || code != 0 {
					k.Broken("it wrote %q and %q, exit code %d", out, errs, code)
				}
			}),
		newCase("exec-exit-code", needs,
			"the program of Exec exits with the code of the command, with 128 and the number of a signal, and with 127 for a command that does not exist",
			func(k *kit) {
				w := k.ready(script.Sleep)
				for _, c := range []struct {
					command []string
					code    int
				}{
					{[]string{"sh", "-c", "exit 7"}, 7},
					{[]string{"sh", "-c", "kill -KILL $$"}, 128 + int(syscall.SIGKILL)},
					{[]string{"plugintest-no-such-command"}, 127},
				} {
					if _, _, code := w.exec(swarm.ExecOptions{Command: c.command}); code != c.code {
						k.Broken("%q: exit code %d, not %d", c.command, code, c.code)
					}
				}
			}),
		newCase("exec-leaves-the-worker-alone", needs,
			"the end of a command of Exec is not that of the worker",
			func(k *kit) {
				w := k.ready(script.Sleep)
				before := w.status()
				w.exec(swarm.ExecOptions{Command: []string{"sh", "-c", "exit 9"}})
				if after := w.status(); after.State != swarm.StateRunning || after.PID != before.PID || after.Restarts != before.Restarts {
					k.Broken("the worker was %+v and is %+v", before, after)
				}
			}),
		newCase("exec-ends-with-a-kill", needs,
			"Kill of the worker ends the commands of Exec",
			func(k *kit) {
				w := k.ready(script.Sleep)
				ended := w.begin("601")
				w.kill(gentle())
				k.until("the command has ended", ended)
			}),
		newCase("exec-ends-with-the-worker", scope{needs: swarm.CapExec, also: swarm.CapSignal},
			"a command of Exec ends when the worker ends by itself, and does not delay that",
			func(k *kit) {
				w := k.ready(script.Trap)
				ended := w.begin("602")
				w.Must("Signal", w.signal("SIGUSR1", swarm.KillMain))
				k.until("the worker has ended", func() bool { return w.status().State == swarm.StateExited })
				k.until("the command has ended", ended)
			}),
		newCase("exec-ends-with-its-program", needs,
			"a command of Exec ends when its program is killed",
			func(k *kit) {
				w := k.ready(script.Sleep)
				cmd, from := w.sleeper("603")
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					_, _ = io.Copy(io.Discard, from) // until no process can write to it
				}()
				k.until("the command has ended", func() bool { return isClosed(gone) })
				w.wantState(swarm.StateRunning, "the worker")
			}),
	}
}

// program returns the program of Exec, as a host would start it.
func (w *worker) program(o swarm.ExecOptions) *exec.Cmd {
	w.Helper()
	if w.local {
		o.Shim = w.settings.Shim
	}
	ctx, cancel := w.limited()
	defer cancel()
	p, err := w.Backend.(swarm.Execer).Exec(ctx, w.handle, o)
	w.Must("Exec", err)
	return w.command(p)
}

// command returns a program as a host would start it.
func (w *worker) command(p swarm.Program) *exec.Cmd {
	w.Helper()
	if len(p.Command) == 0 || p.Command[0] == "" {
		w.Fatal("the program is %q", p.Command)
	}
	cmd := exec.CommandContext(w.Ctx, p.Command[0], p.Command[1:]...)
	cmd.Env = environ.Set(environ.Unset(os.Environ(), p.Unset...), p.Env...)
	return cmd
}

// exec runs a command in the worker and returns what it wrote, and its exit code.
func (w *worker) exec(o swarm.ExecOptions) (stdout, stderr string, code int) {
	w.Helper()
	return w.ran(w.program(o))
}

func (w *worker) ran(cmd *exec.Cmd) (stdout, stderr string, code int) {
	w.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		w.Fatal("the program %q can't be started: %v", cmd.Args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (w *worker) wantExec(o swarm.ExecOptions, stdout string, code int) {
	w.Helper()
	if out, errs, got := w.exec(o); out != stdout || got != code {
		w.Broken("%+v: exit code %d, it wrote %q and %q, not %q", o, got, out, errs, stdout)
	}
}

// begin starts a command that sleeps for a number of seconds, and returns a function that reports
// whether its program has ended.
func (w *worker) begin(seconds string) (ended func() bool) {
	w.Helper()
	cmd, _ := w.sleeper(seconds)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait()
	}()
	return func() bool { return isClosed(gone) }
}

// sleeper starts a command and returns once it runs.
func (w *worker) sleeper(seconds string) (*exec.Cmd, io.Reader) {
	w.Helper()
	cmd := w.program(swarm.ExecOptions{Command: []string{"sh", "-c", "echo begun; exec sleep " + seconds}})
	from, to, err := os.Pipe()
	w.Must("pipe", err)
	w.Cleanup(func() { _ = from.Close() })
	cmd.Stdout = to
	err = cmd.Start()
	_ = to.Close()
	w.Must("start of the program", err)
	w.Cleanup(func() { _ = cmd.Process.Kill() })
	_ = from.SetReadDeadline(time.Now().Add(patience))
	line := make([]byte, len("begun\n"))
	if _, err := io.ReadFull(from, line); err != nil || string(line) != "begun\n" {
		w.Fatal("the command wrote %q: %v", line, err)
	}
	_ = from.SetReadDeadline(time.Time{})
	return cmd, from
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
