package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/swarmhost/swarm/shared/leftover"
)

// world is what one script runs in: the processes and files below its root.
type world struct {
	t    testing.TB
	root string
	work string
	env  []string
	// tolerant says that the script leaves processes behind on purpose.
	tolerant bool
	watchdog *time.Timer
}

type worldKey struct{}

func newWorld(env *testscript.Env, root string) *world {
	w := &world{
		t:    env.T().(testing.TB),
		root: root,
		work: env.WorkDir,
		env:  slices.Clone(env.Vars),
	}
	w.watchdog = time.AfterFunc(scriptLimit, func() {
		w.t.Errorf("the script took more than %v", scriptLimit)
		w.signalAll(syscall.SIGQUIT, process.isSwarm)
		w.poll(2*time.Second, func() bool { return len(w.processes(process.isSwarm)) == 0 })
		w.signalAll(syscall.SIGKILL, nil)
	})
	return w
}

// poll asks until ok or until the limit has passed, and returns the last answer. Between two
// looks it rests three times as long as a look takes, and up to ten times the longer it has
// waited: other scripts need the processors.
func (w *world) poll(limit time.Duration, ok func() bool) bool {
	began := time.Now()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		look := time.Now()
		if ok() {
			return true
		}
		took := time.Since(look)
		longer := min(time.Since(began)/4, 10*took)
		select {
		case <-deadline.C:
			return ok()
		case <-time.After(max(20*time.Millisecond, 3*took, longer)):
		}
	}
}

// processes returns those of the script that match, or all of them.
func (w *world) processes(match func(process) bool) []process {
	var ps []process
	for _, p := range leftover.Of(w.root) {
		q := process{pid: p.PID, command: p.Command, shim: p.Has("SWARM_SHIM"), worker: p.Has("SWARM_WORKER_ID")}
		if match == nil || match(q) {
			ps = append(ps, q)
		}
	}
	return ps
}

// signalAll sends a signal to the processes that match, and returns how many there are.
func (w *world) signalAll(sig syscall.Signal, match func(process) bool) int {
	found := w.processes(match)
	for _, p := range found {
		_ = syscall.Kill(p.pid, sig)
	}
	return len(found)
}

// end ends what the script left running. A script that passed must have left
// nothing but workers that kill --all ends. A short run leaves out the calls of swarm that have
// nothing to do then, a fifth of all.
func (w *world) end() {
	w.watchdog.Stop()
	if !w.t.Failed() && !w.tolerant {
		if w.calledFor() {
			w.killAndClean()
			w.checkProcesses()
			w.checkSessions()
		}
		w.checkSockets()
	}
	w.checkRaces()
	gone := w.poll(10*time.Second, func() bool { return w.signalAll(syscall.SIGKILL, nil) == 0 })
	if !gone {
		w.t.Errorf("processes that can't be ended:\n%s", list(w.processes(nil)))
	}
	if err := leftover.RemoveAll(w.root); err != nil {
		w.t.Error(err)
	}
}

// calledFor reports whether the workers are to be ended or removed: in a short run, whether swarm
// left a process, a socket or a session.
func (w *world) calledFor() bool {
	return !testing.Short() || len(w.processes(process.isSwarm)) > 0 || len(sockets(filepath.Join(w.root, "s"))) > 0 || len(w.sessions()) > 0
}

// killAndClean ends and removes the workers that the script left, each of which has a run
// directory.
func (w *world) killAndClean() {
	workers := filepath.Join(w.root, "s", "workers")
	if left, _ := os.ReadDir(workers); len(left) == 0 {
		return
	}
	w.swarm("kill", "--all", "--timeout", "1s")
	if !w.calledFor() {
		return
	}
	w.swarm("clean", "--all", "--no-rm-worktree")
	left, _ := os.ReadDir(workers)
	for _, d := range left {
		w.t.Errorf("swarm left a run directory behind: %s", d.Name())
	}
}

// checkProcesses allows the time that a plugin has whose host was killed, on a
// busy machine.
func (w *world) checkProcesses() {
	none := func() bool { return len(w.processes(process.isSwarm)) == 0 }
	if !w.poll(10*time.Second, none) {
		w.t.Errorf("swarm left processes behind:\n%s", list(w.processes(process.isSwarm)))
	}
}

// checkSockets allows the sockets of plugins whose host was killed, as long as a
// later call removes them once they are old.
func (w *world) checkSockets() {
	if left := sockets(filepath.Join(w.root, "tmp")); len(left) > 0 {
		old := time.Now().Add(-time.Hour)
		for _, path := range left {
			if err := os.Chtimes(filepath.Dir(path), old, old); err != nil {
				w.t.Error(err)
			}
		}
		w.swarm("plugin", "list")
	}
	for _, dir := range []string{"s", "tmp"} {
		for _, path := range sockets(filepath.Join(w.root, dir)) {
			w.t.Errorf("swarm left a socket behind: %s", path)
		}
	}
}

// swarm runs the program as the script would.
func (w *world) swarm(args ...string) {
	cmd := exec.CommandContext(w.t.Context(), filepath.Join(bin, "swarm"), args...)
	cmd.Env, cmd.Dir = w.env, w.work
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("swarm %s after the script: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// checkRaces fails the test for each data race that a program of swarm found in itself, if
// they were built for that.
func (w *world) checkRaces() {
	reports, _ := filepath.Glob(filepath.Join(w.root, "race.*"))
	for _, report := range reports {
		text, _ := os.ReadFile(report)
		w.t.Errorf("a data race in a program of swarm:\n%s", text)
	}
}

func (w *world) checkSessions() {
	for _, name := range w.sessions() {
		w.t.Errorf("swarm left a session behind: %s", name)
	}
}

// sessions returns the sessions that swarm named by itself.
func (w *world) sessions() (names []string) {
	for _, socket := range sockets(filepath.Join(w.root, "t")) {
		cmd := exec.CommandContext(w.t.Context(), "tmux", "-S", socket, "list-sessions", "-F", "#{session_name}")
		out, err := cmd.Output()
		if err != nil {
			continue // a socket without a server
		}
		for name := range strings.Lines(string(out)) {
			if strings.HasPrefix(name, "swarm-") {
				names = append(names, strings.TrimSpace(name))
			}
		}
	}
	return names
}

func sockets(dir string) (paths []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		// Qwen Code leaves one behind when it is killed.
		if err == nil && d.Type()&fs.ModeSocket != 0 && !strings.HasPrefix(filepath.Base(filepath.Dir(path)), "qwen-socks-") {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// process is one that lives; a zombie does not.
type process struct {
	pid     int
	command string
	// shim and worker say that it carries swarm's marks in its environment.
	shim, worker bool
}

// isSwarm says that it is a program of swarm, a worker of swarm, or something
// that a worker started. Servers of tmux are left out: their sessions show whose they are.
func (p process) isSwarm() bool {
	program, _, _ := strings.Cut(p.command, " ")
	program = filepath.Base(program)
	return program != "tmux" && program != "tmux:" && (p.shim || p.worker || strings.HasPrefix(program, "swarm"))
}

func list(ps []process) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "\t%d %s\n", p.pid, p.command)
	}
	return b.String()
}
