package backendtest

import (
	"errors"
	"strconv"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func treeCases() []testCase {
	return []testCase{
		{
			name: "tree-is-killed", local: true,
			rule: "after Kill nothing is left: no child, none in a session of its own, none whose parent is gone",
			run: func(k *kit) {
				w := k.spawn(script.Tree)
				pids := w.pids()
				w.kill(gentle())
				k.dead(pids)
			},
		},
		{
			name: "tree-is-forced", local: true,
			rule: "after a Kill by force nothing is left of the worker either",
			run: func(k *kit) {
				w := k.spawn(script.Tree)
				pids := w.pids()
				w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true})
				k.dead(pids)
			},
		},
		{
			name: "tree-by-its-main-process", local: true,
			rule: "with KillMain only the main process is signalled, and what it leaves behind is ended after it",
			run: func(k *kit) {
				w := k.spawn(script.Tree)
				pids := w.pids()
				o := gentle()
				o.Mode = swarm.KillMain
				w.kill(o)
				k.dead(pids)
			},
		},
		{
			name: "tree-of-a-killed-main-process", local: true,
			rule: "a worker whose main process was killed by someone else ends whole, and its exit is the real one",
			run: func(k *kit) {
				w := k.spawn(script.Tree)
				pids := w.pids()
				if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
					k.Fatalf("kill the main process: %v", err)
				}
				k.wantExit(w.ended(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseExited})
				k.dead(pids)
			},
		},
	}
}

func (w *worker) pids() []int {
	w.k.Helper()
	pids := w.k.parsePIDs(w.hear())
	if len(pids) != 4 {
		w.k.Fatalf("a tree of 4 processes has %d", len(pids))
	}
	return pids
}

func (k *kit) parsePIDs(line string) []int {
	k.Helper()
	var pids []int
	for field := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			k.Fatalf("pid of a process in a tree: %v", err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// dead checks that no process is alive. A zombie counts as dead: its parent may reap it
// later.
func (k *kit) dead(pids []int) {
	k.Helper()
	for _, pid := range pids {
		if alive(pid) {
			k.broken("process %d of %v is alive", pid, pids)
			_ = syscall.Kill(pid, syscall.SIGKILL) // nothing outlives the test
		}
	}
}

// alive reports whether a process runs; one that can't be read counts as running.
func alive(pid int) bool {
	p, err := proc.Read(pid)
	if err != nil {
		return !errors.Is(err, proc.ErrGone)
	}
	return !p.Ended
}
