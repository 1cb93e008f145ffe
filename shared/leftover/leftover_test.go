package leftover_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/leftover"
)

// envLeave has the program be one whose tests are interrupted.
const envLeave = "LEFTOVER_TEST_LEAVE"

const eventually = 30 * time.Second

func TestMain(m *testing.M) {
	if err := leftover.Watch(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if dir := os.Getenv(envLeave); dir != "" {
		leave(dir)
	}
	os.Exit(m.Run())
}

// leave makes two directories, one of which it removes, starts a process in each, prints the
// directories and ids, and waits to be ended.
func leave(root string) {
	var dir string
	for range 2 {
		var err error
		if dir, err = leftover.MkdirTemp(root, "world"); err != nil {
			panic(err)
		}
		cmd := exec.Command("sleep", "600")
		cmd.Env = []string{"LEFT_IN=" + filepath.Join(dir, "s")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Println(dir, cmd.Process.Pid)
		go func() { _ = cmd.Wait() }()
	}
	if err := leftover.RemoveAll(dir); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	if os.Getenv("LEFTOVER_TEST_PANIC") != "" {
		panic("as at the limit of go test")
	}
	time.Sleep(time.Hour)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"SIGINT", "SIGTERM", "SIGKILL", "panic"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			root, err := leftover.MkdirTemp("", "leftover-test-")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = leftover.End(root) }()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), envLeave+"="+root)
			if end == "panic" {
				cmd.Env = append(cmd.Env, "LEFTOVER_TEST_PANIC=1")
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var left, removed string
			var other, pid int
			in := bufio.NewScanner(out)
			for _, to := range [][]any{{&left, &other}, {&removed, &pid}} {
				in.Scan()
				if _, err := fmt.Sscan(in.Text(), to...); err != nil {
					t.Fatalf("it says %q: %v", in.Text(), err)
				}
			}
			if in.Scan(); in.Text() != "ready" {
				t.Fatalf("it says %q", in.Text())
			}
			signals := map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGKILL": syscall.SIGKILL}
			if sig, ok := signals[end]; ok {
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the program was not interrupted")
			}
			until(t, "the directory is gone", func() bool {
				_, err := os.Stat(left)
				return os.IsNotExist(err)
			})
			if alive := leftover.Of(left); len(alive) > 0 {
				t.Errorf("left: %+v", alive)
			}
			kept := leftover.Of(removed)
			if len(kept) != 1 || kept[0].PID != pid || !kept[0].Has("LEFT_IN") || kept[0].Has("LEFT") {
				t.Errorf("of the directory that the test has removed: %+v, want %d", kept, pid)
			}
			if err := leftover.End(removed); err != nil || len(leftover.Of(removed)) > 0 {
				t.Errorf("%v, %+v", err, leftover.Of(removed))
			}
		})
	}
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(eventually)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline.C:
			t.Fatalf("it did not come to pass that %s", what)
		case <-tick.C:
		}
	}
}
