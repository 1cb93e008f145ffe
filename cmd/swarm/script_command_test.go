package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/swarmhost/swarm/shared/machinetest"
)

// eventually bounds how long an `until` waits.
const eventually = 60 * time.Second

// commands are what the scripts have next to testscript's own.
//
//	exits N prog args…           run it; it must exit with exactly N
//	until COND…                  wait until the condition holds, see query
//	within D COND…              the same within a bound of its own
//	[!] holds COND…              the condition holds now
//	capture VAR prog args…       run it, put its trimmed output into VAR
//	took MIN MAX prog args…      run it; it must exit with 0 within these bounds
//	parallel N prog args…        run it N times at once, {} is 1…N; all must exit with 0
//	killafter D prog args…       run it, SIGKILL it after D, whatever it answers
//	signal NAME FILE|PID|/RE/    send a signal: to the pid in a file, to a pid, or
//	                             to the script's processes whose command line matches;
//	                             those are gone after KILL
//	[!] json FILE PATH VALUE     compare a value, such as `json stdout 0.name w1`;
//	                             a last element len is a length
//	jsonenv VAR FILE PATH        put a value into VAR
//	edit FILE RE TEXT            replace all matches, of which there must be one
//	poke FILE OFFSET BYTES       overwrite bytes; OFFSET "end" cuts the file to BYTES bytes
//	sql FILE QUERY               run a query on a database and print its rows
//	serve DIR VAR                serve the files in a directory over http on this machine,
//	                             and put the address into VAR
//	repo DIR                     make a git repository with a commit
//	mode MODE FILE…              the permissions are exactly these
//	finals WORKER TEXT…          the worker's final events are exactly these, in this order
//	[!] idle D MAX RE            the processes whose command line matches take at most
//	                             MAX of processor time, all together, within D
//	asleep D N RE                wait for a time D in which the processes whose command
//	                             line matches wake at most N times, all together
//	[!] mcp [-s NAME] TOOL [JSON]
//	                             call a tool of 'swarm mcp' and print the answer as one
//	                             line of JSON; ! if the answer is an error. The server
//	                             leaves after it; with -s it stays for later calls, until
//	                             'mcp -s NAME -end' or -kill. BIN/mcpclient TOOL [JSON]
//	                             is the same as a program, for workers.
//	page PAGE [RE…]              what PAGE shows as output of swarm is in stdout, but for
//	                             lines that match RE and for pids, times and the like
//	needs FEATURE                skip the script, or fail it in CI, where the machine
//	                             lacks a feature of shared/machinetest
//	tolerant                     leftovers at the end are on purpose
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":     cmdExits,
	"until":     cmdUntil,
	"within":    cmdWithin,
	"holds":     cmdHolds,
	"capture":   cmdCapture,
	"took":      cmdTook,
	"parallel":  cmdParallel,
	"killafter": cmdKillAfter,
	"signal":    cmdSignal,
	"json":      cmdJSON,
	"jsonenv":   cmdJSONEnv,
	"edit":      cmdEdit,
	"poke":      cmdPoke,
	"sql":       cmdSQL,
	"serve":     cmdServe,
	"repo":      cmdRepo,
	"mode":      cmdMode,
	"finals":    cmdFinals,
	"page":      cmdPage,
	"idle":      cmdIdle,
	"asleep":    cmdAsleep,
	"mcp":       cmdMCP,
	"needs":     cmdNeeds,
	"tolerant":  cmdTolerant,
}

// skipperKey is the key of the test that a script is, which can be skipped.
type skipperKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// need fails the script for a command that was used wrongly.
func need(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// run executes a program and returns its exit code, -1 for a signal.
func run(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "exits N prog args…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := run(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdNeeds(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "needs FEATURE")
	lacks := machinetest.Lacks(args[0])
	if lacks == nil {
		return
	}
	ts.Check(machinetest.Skipped(ts.Name(), lacks))
	ts.Value(skipperKey{}).(testscript.T).Skip(lacks)
}

func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 1, "until COND args…")
	wait(ts, eventually, args)
}

func cmdWithin(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 3, "within D COND args…")
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	wait(ts, limit, args[1:])
}

func wait(ts *testscript.TestScript, limit time.Duration, args []string) {
	w := worldOf(ts)
	query := newQuery(ts)
	ok := w.poll(limit, func() bool { return query.holds(args) })
	query.show()
	if !ok {
		ts.Fatalf("did not happen in %v", limit)
	}
}

func cmdHolds(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) >= 1, "[!] holds COND args…")
	query := newQuery(ts)
	ok := query.holds(args)
	query.show()
	if ok == neg {
		ts.Fatalf("%s: %t", strings.Join(args, " "), ok)
	}
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "capture VAR prog args…")
	if code := run(ts, args[1:]); code != 0 {
		ts.Fatalf("exit code %d", code)
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func cmdTook(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 3, "took MIN MAX prog args…")
	least, err := time.ParseDuration(args[0])
	ts.Check(err)
	most, err := time.ParseDuration(args[1])
	ts.Check(err)
	start := time.Now()
	if code := run(ts, args[2:]); code != 0 {
		ts.Fatalf("exit code %d", code)
	}
	if took := time.Since(start); took < least || took > most {
		ts.Fatalf("took %v, want %v to %v", took, least, most)
	}
}

func cmdMode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "mode MODE FILE…")
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, glob := range args[1:] {
		files, err := filepath.Glob(ts.MkAbs(glob))
		ts.Check(err)
		if len(files) == 0 {
			ts.Fatalf("no file %s", glob)
		}
		for _, f := range files {
			info, err := os.Stat(f)
			ts.Check(err)
			if got := info.Mode().Perm(); got != os.FileMode(want) {
				ts.Fatalf("%s has mode %#o, want %#o", f, got, want)
			}
		}
	}
}

func cmdTolerant(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "tolerant")
	worldOf(ts).tolerant = true
}
