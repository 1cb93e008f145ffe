// Package leftover ends what a test program has started, and removes its directories, if the
// program ends without having done so: by an interrupt, by the limit of 'go test', by a crash.
// Workers, shims, servers of tmux and container engines have sessions of their own, so they
// outlive their test otherwise.
//
// A second process of the test program waits for the end of the first one. It finds the leftovers
// by the directories in which tests run it.
//
// It is imported by tests alone.
package leftover

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// envWatch is set for the second process.
const envWatch = "SWARM_TEST_LEFTOVER"

// patience bounds how long the second process tries to end the remaining processes.
const patience = 30 * time.Second

var watcher struct {
	mu sync.Mutex
	to io.Writer // nil: there is none
}

// Watch starts the second process. A TestMain calls it first: in that process it does not
// return.
func Watch() error {
	if os.Getenv(envWatch) != "" {
		watch(os.Stdin)
		os.Exit(0) //nolint:forbidigo // the tests run in the other process
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// It has no output: 'go test' waits until all that have that have ended.
	cmd := exec.Command(self) //nolint:noctx // it outlives the tests
	cmd.Env, cmd.Dir, cmd.Stdin = append(os.Environ(), envWatch+"=1"), "/", r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("watch for the end of the tests: %w", err)
	}
	watcher.mu.Lock()
	defer watcher.mu.Unlock()
	watcher.to = w
	return nil
}

// MkdirTemp makes a directory as [os.MkdirTemp] does, whose path has no links. If the test program
// has called [Watch] and ends before [RemoveAll], the processes of the directory are ended then
// and it is removed.
func MkdirTemp(parent, pattern string) (string, error) {
	dir, err := os.MkdirTemp(parent, pattern)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		report("+", dir)
	}
	return dir, err
}

// RemoveAll removes a directory, in which the test has ended what it has started.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		report("-", dir)
	}
	return err
}

func report(sign, dir string) {
	watcher.mu.Lock()
	defer watcher.mu.Unlock()
	if watcher.to != nil {
		_, _ = fmt.Fprintf(watcher.to, "%s%s\n", sign, dir) // a watcher that was killed helps no more
	}
}

// watch reads the reports of the first process until that ends, and then ends the remaining processes.
func watch(reports io.Reader) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	dirs := make(map[string]bool)
	for in := bufio.NewScanner(reports); in.Scan(); {
		if dir, ok := strings.CutPrefix(in.Text(), "+"); ok {
			dirs[dir] = true
		} else {
			delete(dirs, strings.TrimPrefix(in.Text(), "-"))
		}
	}
	for dir := range dirs {
		_ = End(dir) // no caller is left to report it to
	}
}

// End ends the processes of a directory, and removes it with what is mounted in it.
func End(dir string) error {
	var err error
	for began := time.Now(); time.Since(began) < patience; time.Sleep(50 * time.Millisecond) {
		left := inside(dir)
		for _, p := range left {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
		if len(left) > 0 {
			continue
		}
		unmount(dir)
		if err = RemoveAll(dir); err == nil {
			return nil
		}
	}
	if left := inside(dir); len(left) > 0 {
		return fmt.Errorf("%d processes of %s can't be ended, such as %s", len(left), dir, left[0].Command)
	}
	return err
}

// Process is one that lives; a zombie does not.
type Process struct {
	PID     int
	Command string
	environ string
}

// Has reports whether the process was started with a variable.
func (p Process) Has(name string) bool { return hasVariable(p.environ, name) }
