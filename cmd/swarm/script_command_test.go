package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// eventually bounds how long an `until` waits.
const eventually = 20 * time.Second

// commands are what the scripts have beside testscript's own.
//
//	exits N prog args…           run it; it must exit with exactly N
//	until COND…                  wait until the condition holds, see condition
//	within D COND…              the same within a bound of its own
//	[!] holds COND…              the condition holds now
//	capture VAR prog args…       run it, put its trimmed output into VAR
//	took MIN MAX prog args…      run it; it must exit with 0 within these bounds
//	parallel N prog args…        run it N times at once, {} is 1…N; all must exit with 0
//	killafter D prog args…       run it, SIGKILL it after D, whatever it answers
//	signal NAME FILE|PID|/RE/    send a signal: to the pid in a file, to a pid, or
//	                             to the script's processes whose command line matches
//	[!] json FILE PATH VALUE     compare a value, such as `json stdout 0.name w1`;
//	                             a last element # is a length
//	jsonenv VAR FILE PATH        put a value into VAR
//	edit FILE RE TEXT            replace all matches, of which there must be one
//	poke FILE OFFSET BYTES       overwrite bytes; OFFSET "end" cuts the file to BYTES bytes
//	repo DIR                     make a git repository with a commit
//	mode MODE FILE…              the permissions are exactly these
//	tolerant                     what is left at the end is on purpose
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
	"repo":      cmdRepo,
	"mode":      cmdMode,
	"tolerant":  cmdTolerant,
}

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
	var exit *exec.ExitError
	if errors.As(err, &exit) {
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

func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "until COND args…")
	if !worldOf(ts).poll(eventually, func() bool { return condition(ts, args) }) {
		ts.Fatalf("did not happen in %v", eventually)
	}
}

func cmdWithin(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 3, "within D COND args…")
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	if !worldOf(ts).poll(limit, func() bool { return condition(ts, args[1:]) }) {
		ts.Fatalf("did not happen in %v", limit)
	}
}

func cmdHolds(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) >= 1, "[!] holds COND args…")
	if condition(ts, args) == neg {
		ts.Fatalf("%s: %t", strings.Join(args, " "), !neg != true)
	}
}

// condition answers one of
//
//	file F…             all of them exist
//	nofile F…           none of them exists
//	grep RE F           the file matches
//	exit N prog args…   the program exits with N
//	stdout RE prog…     the program's output matches; it may fail
//	alive F…            the processes live whose pids are in the files
//	dead F…             none of them lives; a zombie is dead
//	running RE          a process of the script has such a command line
//	norunning RE        none has
//	quiet               no process of swarm is there, no keeper, no worker
func condition(ts *testscript.TestScript, args []string) bool {
	w := worldOf(ts)
	kind, args := args[0], args[1:]
	switch kind {
	case "file", "nofile":
		return !slices.ContainsFunc(args, func(f string) bool {
			_, err := os.Lstat(ts.MkAbs(f))
			return (err == nil) != (kind == "file")
		})
	case "grep":
		text, err := os.ReadFile(ts.MkAbs(args[1]))
		return err == nil && pattern(ts, args[0]).Match(text)
	case "exit":
		return strconv.Itoa(run(ts, args[1:])) == args[0]
	case "stdout":
		run(ts, args[1:])
		return pattern(ts, args[0]).MatchString(ts.ReadFile("stdout"))
	case "alive", "dead":
		return !slices.ContainsFunc(args, func(f string) bool {
			pid, written := pidFile(ts, f)
			return pid == 0 || alive(pid, written) != (kind == "alive")
		})
	case "running", "norunning":
		re := pattern(ts, args[0])
		found := w.processes(func(p process) bool { return re.MatchString(p.command) })
		return (len(found) > 0) == (kind == "running")
	case "quiet":
		left := w.processes(process.isSwarm)
		if len(left) > 0 {
			ts.Logf("still there:\n%s", list(left))
		}
		return len(left) == 0
	default:
		ts.Fatalf("unknown condition %q", kind)
		return false
	}
}

func pattern(ts *testscript.TestScript, re string) *regexp.Regexp {
	r, err := regexp.Compile("(?m)" + re)
	ts.Check(err)
	return r
}

// pidFile reads a pid and when it was written; a number stands for itself. The
// pid is 0 as long as the file is not there or not complete.
func pidFile(ts *testscript.TestScript, file string) (int, time.Time) {
	if pid, err := strconv.Atoi(file); err == nil {
		return pid, time.Now()
	}
	file = ts.MkAbs(file)
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, time.Time{}
	}
	info, err := os.Stat(file)
	ts.Check(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || !strings.HasSuffix(string(text), "\n") {
		return 0, time.Time{}
	}
	return pid, info.ModTime()
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
