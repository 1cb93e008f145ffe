package hosttest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// helperRoot is the variable that names the root in which [RunSpawn] works.
const helperRoot = "HOST_TEST_ROOT"

// StepRespawn begins the names of the steps of a respawn.
const StepRespawn = "respawn "

// RunSpawn is the main of another process, which spawns or respawns one worker, prints the step at
// which it has to stop and then waits to be killed. A package that uses [CrashAt], [StopAt] or
// [SpawnProcess] has a test of the name TestSpawnProcess that calls RunSpawn alone; it does nothing
// in the process of the tests themselves.
func RunSpawn(t testing.TB) {
	t.Helper()
	root := os.Getenv(helperRoot)
	if root == "" {
		return
	}
	r := NewIn(t, root)
	last, again := strings.CutPrefix(os.Getenv("HOST_TEST_STOP"), StepRespawn)
	stop := func(at string) {
		if at == last {
			fmt.Fprintln(os.Stdout, "at "+os.Getenv("HOST_TEST_STOP"))
			select {}
		}
	}
	agent := os.Getenv("HOST_TEST_AGENT") != ""
	if agent {
		r.SetEnv(t)
	}
	r.Tree.AfterCreate = func(context.Context) error { stop("workspace"); return nil }
	r.One.BeforeSpawn = func(context.Context, swarm.Spec) error { stop("before"); return nil }
	r.One.AfterSpawn = func(context.Context, swarm.Spec) error { stop("after"); return nil }
	if again {
		_, err := r.Spawn().Respawn(t.Context(), os.Getenv("HOST_TEST_NAME"), spawn.RespawnRequest{CleanFirst: last == "workspace"})
		t.Fatalf("the respawn was not stopped: %v", err)
	}
	req := r.Request(os.Getenv("HOST_TEST_NAME"), "one")
	if os.Getenv("HOST_TEST_STOP") != "" {
		InWorkspace(&req)
	}
	if agent {
		AsAgent(&req)
	}
	if _, err := r.Spawn().Spawn(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// SpawnProcess returns another process that spawns a worker in root and stops at a step: in its
// "workspace", "before" or "after" the backend made the worker, or, empty, not at all.
func SpawnProcess(t testing.TB, root, name, stop string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSpawnProcess$")
	cmd.Env = append(os.Environ(), helperRoot+"="+root, "HOST_TEST_NAME="+name, "HOST_TEST_STOP="+stop)
	return cmd
}

// CrashAt has another process spawn the worker w1 in root, and kills the process at a step.
func CrashAt(t testing.TB, root, step string, env ...string) {
	t.Helper()
	cmd, wait := StopAt(t, root, step, env...)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait()
}

// StopAt is like [CrashAt] but leaves the process at the step. The caller kills the process and then
// calls wait.
func StopAt(t testing.TB, root, step string, env ...string) (cmd *exec.Cmd, wait func()) {
	t.Helper()
	cmd = SpawnProcess(t, root, "w1", step)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	var seen strings.Builder
	for {
		line, err := in.ReadString('\n')
		seen.WriteString(line)
		if strings.TrimSpace(line) == "at "+step {
			break
		}
		if err != nil {
			t.Fatalf("the process did not come to %q: %s", step, seen.String())
		}
	}
	return cmd, func() {
		_, _ = io.Copy(io.Discard, in)
		_ = cmd.Wait() // it was killed
	}
}
