// The tests start the built programs as a person does, with workers of their own.
package webserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/leftover"
	"github.com/swarmhost/swarm/shared/proc"
)

// patience is how long anything may take that must happen soon.
const patience = time.Minute

// bin is where the programs under test are.
var bin string

func TestMain(m *testing.M) {
	if err := leftover.Watch(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := leftover.MkdirTemp("", "swarm-web-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = leftover.RemoveAll(dir) }()
	bin = dir
	if err := buildtest.Programs(bin, "github.com/swarmhost/swarm/cmd/..."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// world is a state directory, a home and a working directory of a test's own.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir}
	for _, sub := range []string{"h", "w", "t"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(w.end)
	return w
}

// shortDir makes a directory with a short path: there are sockets in it.
func shortDir() (string, error) { return leftover.MkdirTemp("/tmp", "sw") }

// end ends all that is left.
func (w *world) end() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), patience)
	defer cancel()
	if out, err := w.command(ctx, "swarm", "kill", "--all", "--signal", "KILL").CombinedOutput(); err != nil {
		w.Errorf("swarm kill --all: %v\n%s", err, out)
	}
	w.until("no process is left", func() bool { return len(w.alive()) == 0 })
	if err := leftover.RemoveAll(w.dir); err != nil {
		w.Error(err)
	}
}

// alive returns the processes of this world.
func (w *world) alive() []proc.Process {
	all, err := proc.Find(func(p proc.Process) bool {
		dir, _ := proc.Getenv(p.PID, "SWARM_DIR")
		return dir == filepath.Join(w.dir, "s")
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

func (w *world) until(what string, done func() bool) {
	w.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("waited in vain until %s", what)
		}
	}
}

func (w *world) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(w.dir, "h"), "SWARM_DIR=" + filepath.Join(w.dir, "s"), "TMUX_TMPDIR=" + filepath.Join(w.dir, "t"),
		"TMPDIR=" + filepath.Join(w.dir, "t"), "SWARM_SHIM=test", // none of it is inside a worker
	}
	cmd.Dir = filepath.Join(w.dir, "w")
	return cmd
}

// swarm runs a verb, which must exit with 0, and returns what it printed.
func (w *world) swarm(args ...string) string {
	w.Helper()
	out, err := w.command(w.Context(), "swarm", args...).CombinedOutput()
	if err != nil {
		w.Fatalf("swarm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// repository makes the working directory a git repository with a file.
func (w *world) repository() {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "w", "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		w.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-qm", "first"}} {
		cmd := exec.CommandContext(w.Context(), "git", args...)
		cmd.Dir, cmd.Env = filepath.Join(w.dir, "w"), append(os.Environ(), "HOME="+filepath.Join(w.dir, "h"), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			w.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

// server is a `swarm web` that runs.
type server struct {
	w *world
	// address is what it printed, base the part before the token.
	address, base string
	cmd           *exec.Cmd
	*http.Client
}

// web starts `swarm web` and waits until it has printed its address.
func (w *world) web(args ...string) *server {
	w.Helper()
	cmd := w.command(context.WithoutCancel(w.Context()), "swarm", append([]string{"web"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	s := &server{w: w, cmd: cmd}
	w.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		w.Fatalf("swarm web: %v\n%s", err, errs.String())
	}
	s.address = strings.TrimSpace(line)
	s.base, _, _ = strings.Cut(s.address, "/?")
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.Fatal(err)
	}
	s.Client = &http.Client{Jar: jar, Timeout: patience}
	return s
}

// get returns the page at a path, after the exchange of the token.
func (s *server) get(path string) (code int, body string) {
	s.w.Helper()
	if u := s.base + path; path != "" {
		return s.fetch(u)
	}
	return s.fetch(s.address)
}

func (s *server) fetch(address string) (code int, body string) {
	s.w.Helper()
	req, err := http.NewRequestWithContext(s.w.Context(), http.MethodGet, address, nil)
	if err != nil {
		s.w.Fatal(err)
	}
	answer, err := s.Do(req)
	if err != nil {
		s.w.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.w.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
