package shell_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

// own is a process that has five shells, as an MCP server would, and one command in
// the foreground; it continues until it is killed.
func own() {
	ctx := context.Background()
	state := os.Getenv(stateVar)
	h, err := host.Open(ctx, options(state, markVar+"="+os.Getenv(markVar)))
	if err != nil {
		panic(err)
	}
	s, err := shell.SessionOf(os.Getpid())
	if err != nil {
		panic(err)
	}
	for _, command := range []string{
		`exec sleep 991`,
		`sleep 992 & wait`,
		`(setsid sleep 993 &) ; exec sleep 994`,
		`while :; do echo again; sleep 0.01; done`,
		`trap '' TERM INT HUP; (trap '' TERM; setsid sleep 995 & sleep 996 & while :; do sleep 1; done) & while :; do sleep 1; done`,
	} {
		sh, err := shell.Start(ctx, h, shell.Command{Command: command, Dir: state, Session: s})
		if err != nil {
			panic(err)
		}
		fmt.Println(sh.ID)
	}
	go func() {
		_, _ = shell.Run(ctx, h, shell.Command{Command: `echo > foreground; sleep 997 & sleep 998`, Dir: state, Session: s})
	}()
	select {}
}

// TestOwnerIsKilled: kill -9 of the owner of five shells, one of them a tree that
// ignores SIGTERM: none is alive once the grace has ended, without any further call.
func TestOwnerIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), w.as("owner")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	t.Cleanup(kill)
	var ids []string
	for lines := bufio.NewScanner(out); len(ids) < 5 && lines.Scan(); {
		ids = append(ids, lines.Text())
	}
	if len(ids) < 5 {
		t.Fatalf("only %d shells were started", len(ids))
	}
	w.wait("all of them have their processes", func() bool { return len(w.alive()) >= 14 })
	kill()
	w.wait("none of them is alive", func() bool { return len(w.alive()) == 0 })

	h := w.host()
	// Their shims may still be writing that down.
	w.wait("none of them runs", func() bool { return len(w.list(h, shell.Session{}, false)) == 0 })
	shells, err := shell.List(t.Context(), h, shell.Session{}, true)
	if err != nil || len(shells) != 5 {
		t.Fatalf("%d shells, error %v", len(shells), err)
	}
	for i, sh := range shells {
		if sh.ID != ids[i] || sh.Status != shell.Killed {
			t.Errorf("%+v", sh)
		}
	}
}
