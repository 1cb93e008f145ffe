package ralph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// A loop takes over the signals and children of its process, so in tests it runs in
// a process of its own: this program, with a variable in its environment.
const (
	envLoop = "RALPH_TEST_LOOP"
	envDir  = "RALPH_TEST_DIR"
)

// The exit codes of such a process.
const (
	exitFailed = 10 + iota
	exitPrompt
	exitOwned
	exitEnded
	exitSignal
	exitOther
)

// testUnit is the first wait after a failure.
const testUnit = 10 * time.Millisecond

// agentPath is the built testdata/agent.
var agentPath string

func TestMain(m *testing.M) {
	if name := os.Getenv(envLoop); name != "" {
		os.Exit(runLoop(NewStore(os.Getenv(envDir)), name))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ralph-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	agentPath = filepath.Join(dir, "agent")
	if err := buildtest.Program(agentPath, "./testdata/agent"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func runLoop(store Store, name string) int {
	err := Run(context.Background(), Options{Store: store, Name: name, Stdin: os.Stdin, Stdout: os.Stdout, unit: testUnit})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for code, target := range map[int]error{exitFailed: ErrFailed, exitPrompt: ErrPrompt, exitOwned: ErrOwned, exitEnded: ErrEnded} {
		if errors.Is(err, target) {
			return code
		}
	}
	if _, ok := errors.AsType[*SignalError](err); ok {
		return exitSignal
	}
	if err != nil {
		return exitOther
	}
	return 0
}
