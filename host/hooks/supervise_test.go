package hooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
)

// TestMain makes the test binary the program that supervises commands, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		if err := Supervise(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func testLauncher(t *testing.T) Launcher {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Launcher{Executable: own, Env: CommandEnv(os.Environ(), t.TempDir())}
}

func shell(t *testing.T, script string) Call {
	t.Helper()
	dir := t.TempDir()
	return Call{Command: []string{"sh", "-c", script}, Dir: dir, Timeout: time.Minute, Log: filepath.Join(dir, "logs", "x.log"), Title: "the title"}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestResults(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ script, want string }{
		"success":        {"true", ""},
		"a failure":      {"exit 3", "exit status 3"},
		"a signal":       {"kill -KILL $$", "signal: killed"},
		"reads nothing":  {"exec <&-", ""},
		"reads it":       {`test "$(cat)" = hello`, ""},
		"a background":   {"sleep 600 & true", ""},
		"closes outputs": {"exec >&- 2>&-; sleep 0.1", ""},
	} {
		call := shell(t, c.script)
		call.Input = []byte("hello\n")
		r, err := testLauncher(t).Launch(t.Context(), nil, call)
		if err != nil || r.Failure != c.want {
			t.Errorf("%s: %q, %v, want %q", what, r.Failure, err, c.want)
		}
	}
	call := shell(t, "")
	call.Command = []string{"/nonexistent/program"}
	if r, err := testLauncher(t).Launch(t.Context(), nil, call); err != nil || !strings.HasPrefix(r.Failure, "cannot be started: ") {
		t.Errorf("a missing program: %q, %v", r.Failure, err)
	}
	if r, err := (Launcher{Executable: "/nonexistent/swarm"}).Launch(t.Context(), nil, call); err != nil || !strings.HasPrefix(r.Failure, "cannot be started: ") {
		t.Errorf("a missing swarm: %q, %v", r.Failure, err)
	}
}

// A command that takes too long ends with everything in its session, whatever it ignores.
func TestTimeout(t *testing.T) {
	t.Parallel()
	call := shell(t, `trap "" TERM; set -m; sleep 600 & echo $! > child; sleep 600 | sleep 600`)
	call.Timeout = 300 * time.Millisecond
	r, err := testLauncher(t).Launch(t.Context(), nil, call)
	if err != nil || r.Failure != "it did not end within 300ms" {
		t.Errorf("%q, %v", r.Failure, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, filepath.Join(call.Dir, "child"))))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := proc.Read(pid); err == nil && !p.Ended {
		t.Errorf("its child %d lives", pid)
	}
}

// The caller does not wait for a command beyond its own end; the command continues.
func TestInterruptedCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	call := shell(t, `echo $$ > begun; until test -e go; do sleep 0.05; done; echo > done`)
	go func() {
		for !exists(filepath.Join(call.Dir, "begun")) {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := testLauncher(t).Launch(ctx, nil, call); err == nil {
		t.Error("the caller has a result")
	}
	if err := os.WriteFile(filepath.Join(call.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !exists(filepath.Join(call.Dir, "done")) || !strings.Contains(readFile(t, call.Log), "done ("); {
		if time.Now().After(end) {
			t.Fatal("the command did not continue")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	l := testLauncher(t)
	l.Env = CommandEnv([]string{"HOME=/h", "PATH=" + os.Getenv("PATH"), "API_KEY=secret", "SWARM_TOKEN=secret", "SWARM_DIR=/other", "LC_ALL=C", "XDG_RUNTIME_DIR=/r", "HTTPS_PROXY=http://u:secret@p"}, "/state")
	call := shell(t, "env | sort; pwd")
	if r, err := l.Launch(t.Context(), []string{"SWARM_HOOK=mail"}, call); err != nil || r.Failure != "" {
		t.Fatalf("%q, %v", r.Failure, err)
	}
	log := readFile(t, call.Log)
	for _, want := range []string{"HOME=/h\n", "SWARM_DIR=/state\n", "SWARM_HOOK=mail\n", "LC_ALL=C\n", "XDG_RUNTIME_DIR=/r\n", "\n" + call.Dir + "\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is missing in\n%s", want, log)
		}
	}
	if strings.Contains(log, "secret") || strings.Contains(log, "/other") {
		t.Errorf("it has what it should not have:\n%s", log)
	}
}

// The log of a run is limited, its text harmless, and a large log is put aside.
func TestLog(t *testing.T) {
	t.Parallel()
	call := shell(t, `printf 'a\033[2Jb'; exit 1`)
	call.Title = "1-x [w] \x1b]0;evil"
	if _, err := testLauncher(t).Launch(t.Context(), nil, call); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(readFile(t, call.Log), "\n")
	if len(lines) != 4 || !strings.HasSuffix(lines[0], `Z 1-x [w] \x1b]0;evil`) || lines[1] != `a\x1b[2Jb` || !strings.Contains(lines[2], "Z exit status 1 (") {
		t.Errorf("the log is %q", lines)
	}
	for n := range 20 {
		call := call
		call.Command = []string{"sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x"}
		if r, err := testLauncher(t).Launch(t.Context(), nil, call); err != nil || r.Failure != "" {
			t.Fatalf("run %d: %q, %v", n, r.Failure, err)
		}
	}
	for _, path := range []string{call.Log, call.Log + ".1"} {
		if info, err := os.Stat(path); err != nil || info.Size() > logLimit+2*outputLimit || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if !strings.Contains(readFile(t, call.Log), "\n(234464 more bytes of output are dropped)\n") {
		t.Error("the log does not say what is missing")
	}
}
