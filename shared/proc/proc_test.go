package proc_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/proc"
)

// sleeper starts a process and returns its identity.
func sleeper(t *testing.T, env ...string) (proc.Identity, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command("sleep", "999")
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	id, err := proc.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return id, cmd
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	id, cmd := sleeper(t)
	if !id.Alive() || id.Start == 0 || id.Boot == "" {
		t.Fatalf("a living process is %+v", id)
	}
	if err := id.Signal(0); err != nil {
		t.Errorf("signal 0: %v", err)
	}
	if err := id.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
	if id.Alive() {
		t.Error("alive after its end")
	}
	if err := id.Signal(syscall.SIGTERM); !errors.Is(err, proc.ErrGone) {
		t.Errorf("signal after its end: %v", err)
	}
	if _, err := proc.Identify(id.PID); !errors.Is(err, proc.ErrGone) {
		t.Errorf("identified after its end: %v", err)
	}
}

// Someone else under the same number is not signalled.
func TestRecycledPID(t *testing.T) {
	t.Parallel()
	id, _ := sleeper(t)
	for name, other := range map[string]proc.Identity{
		"earlier start": {PID: id.PID, Start: id.Start - 1, Boot: id.Boot},
		"other boot":    {PID: id.PID, Start: id.Start, Boot: "00000000-0000-0000-0000-000000000000"},
		"zero":          {},
		"all":           {PID: -1, Start: id.Start, Boot: id.Boot},
	} {
		if other.Alive() {
			t.Errorf("%s: alive", name)
		}
		if err := other.Signal(syscall.SIGKILL); !errors.Is(err, proc.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !id.Alive() {
		t.Error("the bystander was hit")
	}
}

func TestZombieIsDead(t *testing.T) {
	t.Parallel()
	// Until the clean-up waits for it, it stays a zombie.
	id, cmd := sleeper(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for id.Alive() {
		if t.Context().Err() != nil {
			t.Fatal("still alive")
		}
	}
	p, err := proc.Read(id.PID)
	if err != nil || p.State != 'Z' || !p.Ended {
		t.Errorf("a zombie is %+v, %v", p, err)
	}
	if err := id.Signal(syscall.SIGTERM); !errors.Is(err, proc.ErrGone) {
		t.Errorf("signal to a zombie: %v", err)
	}
}

func TestSelf(t *testing.T) {
	t.Parallel()
	p, err := proc.Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if p.Parent != os.Getppid() || p.Group != syscall.Getpgrp() || p.Name == "" || p.Ended || !p.Alive() {
		t.Errorf("got %+v", p)
	}
}

func TestGetenv(t *testing.T) {
	t.Parallel()
	id, _ := sleeper(t, "AB=no", "A=first=1", "EMPTY=", "LONG="+strings.Repeat("x", 10_000), "B=after")
	for name, want := range map[string]string{"A": "first=1", "EMPTY": "", "LONG": strings.Repeat("x", 10_000), "B": "after"} {
		if got, ok := proc.Getenv(id.PID, name); !ok || got != want {
			t.Errorf("%s is %.40q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "first", "ABC", "x"} {
		if got, ok := proc.Getenv(id.PID, name); ok {
			t.Errorf("%q is %q", name, got)
		}
	}
	if _, ok := proc.Getenv(1<<30, "A"); ok {
		t.Error("no process has a variable")
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", "sleep 998 & (sleep 999 & wait) & echo ready; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	names := func(skip func(proc.Process) bool) []string {
		tree, err := proc.Tree(cmd.Process.Pid, func(p proc.Process) (bool, error) { return skip(p), nil })
		if err != nil {
			t.Error(err)
		}
		var names []string
		for _, p := range tree {
			names = append(names, p.Name)
		}
		return names
	}
	t.Cleanup(func() {
		tree, _ := proc.Tree(cmd.Process.Pid, func(proc.Process) (bool, error) { return false, nil })
		for _, p := range tree {
			_ = p.Signal(syscall.SIGKILL)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	none := func(proc.Process) bool { return false }
	for !slices.Equal(names(none), []string{"sleep", "sh", "sleep"}) {
		if t.Context().Err() != nil {
			t.Fatalf("the tree is %v", names(none))
		}
	}
	if got := names(func(p proc.Process) bool { return p.Name == "sh" }); !slices.Equal(got, []string{"sleep"}) {
		t.Errorf("without the shell and what is below it: %v", got)
	}
	broken := errors.New("unreadable")
	if tree, err := proc.Tree(cmd.Process.Pid, func(proc.Process) (bool, error) { return false, broken }); !errors.Is(err, broken) || len(tree) > 0 {
		t.Errorf("a process that can't be checked: %v, %v", tree, err)
	}
}

// TestBelow looks from the threads that have the children, and from one that has none and
// ends, whose list can't be read then.
func TestBelow(t *testing.T) {
	t.Parallel()
	id, _ := sleeper(t)
	sees := func(threads []int) bool {
		tree, err := proc.Below(threads, func(proc.Process) (bool, error) { return false, nil })
		if err != nil {
			t.Error(err)
		}
		return slices.ContainsFunc(tree, func(p proc.Process) bool { return p.Identity == id })
	}
	threads := proc.ForkThreads(id.PID)
	for _, threads := range [][]int{nil, threads, {1 << 30}} {
		if !sees(threads) {
			t.Errorf("the child is not seen from the threads %v", threads)
		}
	}
	if got := proc.ForkThreads(os.Getpid()); got != nil {
		t.Errorf("a process that is not a child was forked by the threads %v", got)
	}
}

func TestSignalNames(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGSEGV": syscall.SIGSEGV, "SIGUSR1": syscall.SIGUSR1} {
		if proc.SignalName(sig) != name || proc.SignalNumber(name) != sig {
			t.Errorf("%s is %d, %d is %s", name, proc.SignalNumber(name), sig, proc.SignalName(sig))
		}
	}
	if proc.SignalName(32) != "SIG32" || proc.SignalNumber("SIGNOT") != 0 || proc.SignalNumber("SIG32") != 32 && runtime.GOOS == "linux" {
		t.Error("a signal without a name")
	}
	if runtime.GOOS != "linux" {
		return
	}
	for name, sig := range map[string]syscall.Signal{"SIGRTMIN": 34, "SIGRTMIN+1": 35, "SIGRTMIN+30": 64} {
		if proc.SignalName(sig) != name || proc.SignalNumber(name) != sig || proc.ExitCode(-1, name) != 128+int(sig) {
			t.Errorf("%s is %d, %d is %s", name, proc.SignalNumber(name), sig, proc.SignalName(sig))
		}
	}
	for _, name := range []string{"", "SIG", "34", "SIG0", "SIG65", "SIG+3", "SIGRTMIN+", "SIGRTMIN+0", "SIGRTMIN+31", "SIGRTMIN+03", "SIGRTMIN-1", "RTMIN"} {
		if sig := proc.SignalNumber(name); sig != 0 {
			t.Errorf("%q is %d", name, sig)
		}
	}
}
