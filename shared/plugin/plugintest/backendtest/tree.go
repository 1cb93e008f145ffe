package backendtest

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func treeCases() []testCase {
	return []testCase{
		newCase("tree-is-killed", scope{local: true},
			"after Kill no process is left: no child, also none in its own session or whose parent is gone",
			func(k *kit) { k.killTree(gentle()) }),
		newCase("tree-is-forced", scope{local: true},
			"after a forced Kill no process of the worker is left",
			func(k *kit) { k.killTree(swarm.KillOptions{Signal: "SIGKILL", Force: true}) }),
		newCase("tree-by-its-main-process", scope{local: true},
			"with KillMain only the main process is signalled, and the remaining processes are ended after it",
			func(k *kit) {
				o := gentle()
				o.Mode = swarm.KillMain
				k.killTree(o)
			}),
		newCase("tree-of-a-killed-main-process", scope{local: true},
			"a worker whose main process is killed from outside ends with all its processes, and its exit is the real one",
			func(k *kit) {
				w := k.spawn(script.Tree)
				pids := w.pids()
				if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
					k.Fatalf("kill the main process: %v", err)
				}
				k.wantExit(w.ended(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseExited})
				k.dead(pids)
			}),
		newCase("tree-spawned-inside-a-worker", scope{local: true},
			"a worker that is spawned inside another worker does not end with that one: the process that keeps it proves that it does not belong to it",
			func(k *kit) {
				w := k.spawn(script.Tree)
				pids := w.pids()
				for _, pid := range pids {
					if !isKept(pid) {
						k.Broken("process %d of the worker is below no shim, and below no server that carries %s and has begun a session of its own",
							pid, swarm.EnvEngine)
					}
				}
				w.kill(gentle())
				k.dead(pids)
			}),
	}
}

// isKept reports whether a process is below one that belongs to no worker in which the plugin may
// have been started. The shim of such a worker decides by the same rule.
//
// A process in a PID namespace of its own is kept by an engine of containers, which is a service
// of the machine: it does not belong to a worker that asks it for a container.
func isKept(pid int) bool {
	if namespaceOf("self") != namespaceOf(strconv.Itoa(pid)) {
		return true
	}
	for pid > 1 && pid != os.Getpid() {
		p, err := proc.Read(pid)
		if err != nil {
			return false
		}
		if marks, err := rundir.MarksOf(pid); err == nil && marks.IsStranger(p, outerWorker) {
			return true
		}
		pid = p.Parent
	}
	return false
}

// namespaceOf names the PID namespace of a process; empty where there are none.
func namespaceOf(process string) string {
	name, err := os.Readlink("/proc/" + process + "/ns/pid")
	if err != nil {
		return ""
	}
	return name
}

// outerWorker is the id of a worker in which the plugin may have been started.
const outerWorker = "outer"

func (k *kit) killTree(o swarm.KillOptions) {
	k.Helper()
	w := k.spawn(script.Tree)
	pids := w.pids()
	w.kill(o)
	k.dead(pids)
}

func (w *worker) pids() []int {
	w.Helper()
	pids := w.parsePIDs(w.readLine())
	if len(pids) != 4 {
		w.Fatalf("a tree of 4 processes has %d", len(pids))
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
			k.Broken("process %d of %v is alive", pid, pids)
			_ = syscall.Kill(pid, syscall.SIGKILL) // no process outlives the test
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
