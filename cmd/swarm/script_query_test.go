package main_test

import (
	"bytes"
	"context"
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

// query asks once or many times for one condition:
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
//	count N RE          N processes have
//	quiet               no process of swarm runs: no shim, no worker
type query struct {
	ts *testscript.TestScript
	// env is the script's environment, for the programs that it runs; nil: not read yet.
	env []string
	// stdout and stderr are the program's last output, found what the last
	// look at processes found.
	stdout, stderr bytes.Buffer
	found          []process
}

func newQuery(ts *testscript.TestScript) *query { return &query{ts: ts} }

func (q *query) holds(args []string) bool {
	kind, args := args[0], args[1:]
	switch kind {
	case "file", "nofile":
		return !slices.ContainsFunc(args, func(f string) bool {
			_, err := os.Lstat(q.ts.MkAbs(f))
			return (err == nil) != (kind == "file")
		})
	case "grep":
		text, err := os.ReadFile(q.ts.MkAbs(args[1]))
		return err == nil && pattern(q.ts, args[0]).Match(text)
	case "exit":
		return strconv.Itoa(q.run(args[1:])) == args[0]
	case "stdout":
		q.run(args[1:])
		return pattern(q.ts, args[0]).Match(q.stdout.Bytes())
	case "alive", "dead":
		return !slices.ContainsFunc(args, func(f string) bool {
			pid, written := pidFile(q.ts, f)
			return pid == 0 || alive(pid, written) != (kind == "alive")
		})
	case "running", "norunning":
		re := pattern(q.ts, args[0])
		q.found = worldOf(q.ts).processes(func(p process) bool { return re.MatchString(p.command) })
		return (len(q.found) > 0) == (kind == "running")
	case "count":
		re := pattern(q.ts, args[1])
		q.found = worldOf(q.ts).processes(func(p process) bool { return re.MatchString(p.command) })
		return strconv.Itoa(len(q.found)) == args[0]
	case "quiet":
		q.found = worldOf(q.ts).processes(process.isSwarm)
		return len(q.found) == 0
	default:
		q.ts.Fatalf("unknown condition %q", kind)
		return false
	}
}

// run runs a program as testscript's exec does, without a line in the log.
func (q *query) run(args []string) int {
	if q.env == nil {
		q.env = environ(q.ts)
	}
	q.stdout.Reset()
	q.stderr.Reset()
	cmd := program(worldOf(q.ts).t.Context(), q.ts, q.env, args)
	cmd.Stdout, cmd.Stderr = &q.stdout, &q.stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	q.ts.Check(err)
	return 0
}

// show makes the last answers those of the script's last command.
func (q *query) show() {
	_, _ = q.ts.Stdout().Write(q.stdout.Bytes())
	_, _ = q.ts.Stderr().Write(q.stderr.Bytes())
	if len(q.found) > 0 {
		q.ts.Logf("processes:\n%s", list(q.found))
	}
}

// program is a command with the script's directory and environment.
func program(ctx context.Context, ts *testscript.TestScript, env, args []string) *exec.Cmd {
	path := args[0]
	if !strings.Contains(path, "/") {
		for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
			if _, err := os.Stat(dir + "/" + path); err == nil {
				path = dir + "/" + path
				break
			}
		}
	}
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), env
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// environ is the script's environment, which testscript has no accessor for.
func environ(ts *testscript.TestScript) []string {
	file := filepath.Join(worldOf(ts).root, "env")
	ts.Check(ts.Exec("sh", "-c", `env -0 > "$1"`, "sh", file))
	return strings.Split(strings.TrimSuffix(ts.ReadFile(file), "\x00"), "\x00")
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
