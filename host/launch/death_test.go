package launch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
)

// victimEnv makes the test binary a host that starts the plugin that it names
// and waits to be killed.
const victimEnv = "LAUNCH_TEST_PLUGIN"

func victim() int {
	s := New(Options{Dir: os.Getenv("LAUNCH_TEST_DIR"), Env: os.Environ()})
	for _, arg := range []string{"a", "b"} {
		e := catalog.Entry{Name: "test", Command: []string{os.Getenv(victimEnv), "serve", arg}}
		c, err := s.Get(context.Background(), e)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Fprintln(os.Stdout, s.holder(c).proc.proc.cmd.Process.Pid)
	}
	select {}
}

func TestPluginsLeaveWhenTheHostIsKilled(t *testing.T) {
	t.Parallel()
	o := options(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(o.Env, victimEnv+"="+testPlugin, "LAUNCH_TEST_DIR="+o.Dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var pids []int
	lines := bufio.NewScanner(out)
	for len(pids) < 2 && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) < 2 || !alive(pids[0]) || !alive(pids[1]) {
		t.Fatalf("plugins %v are not all alive", pids)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it holds its locks until it is all gone
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("plugin %d has left", pid), 10*time.Second, func() bool { return !alive(pid) })
	}

	// The next host removes the files that a killed host left, but only once they are old
	// enough to have no owner.
	sockets, err := openSocketDir(o.Env, o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	sockets.sweep()
	dirs := left(t, sockets)
	if len(dirs) != 2 {
		t.Fatalf("directories after a sweep at once: %v", dirs)
	}
	old := time.Now().Add(-time.Hour)
	for _, dir := range dirs {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	held, err := hold(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	sockets.sweep()
	if got := left(t, sockets); len(got) != 1 || got[0] != dirs[0] {
		t.Errorf("after the sweep there are %v, want %s, which is held", got, dirs[0])
	}
}

func left(t *testing.T, d *socketDir) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(d.path, ownPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func TestSocketDirIsShortAndPrivate(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "s") //nolint:usetesting // that of t is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	own := fmt.Sprintf("swarm-%d", os.Getuid())
	long := filepath.Join(base, strings.Repeat("d", 80))
	open := filepath.Join(base, "open")
	link := filepath.Join(base, "link")
	good := filepath.Join(base, "good")
	for _, dir := range []string{long, filepath.Join(open, own), link, good} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(open, own), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(good, filepath.Join(link, own)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{long, open, link, "relative", filepath.Join(base, "missing")} {
		d, err := openSocketDir([]string{"XDG_RUNTIME_DIR=" + bad, "TMPDIR=" + good}, base)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(good, own); d.path != want {
			t.Errorf("with %s: %s, want %s", bad, d.path, want)
		}
	}
}
