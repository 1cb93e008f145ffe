// Package machinetest reports to tests which features the machine lacks. A container or a chroot
// may have no user namespaces, and most developers do not test as root. A test that needs
// one of these declares it here: it is skipped with the reason on a machine without the
// feature, and fails in CI, where nothing may be skipped silently.
//
// It is imported by tests alone.
package machinetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/swarmhost/swarm/shared/cgroup"
)

// EnvSkips names the file that reasons are added to, one line each. `go test`
// prints nothing about the skipped tests of a package that passes, so `make test`
// sets it and prints the file at the end.
const EnvSkips = "SWARM_TEST_SKIPS"

// Root skips the test unless it runs as root, which may give files to other
// users.
func Root(tb testing.TB) {
	tb.Helper()
	need(tb, "root")
}

// UserNamespaces skips the test where unshare can't make a user namespace.
func UserNamespaces(tb testing.TB) {
	tb.Helper()
	need(tb, "userns")
}

// lacksUserNamespaces returns why unshare can't make a user namespace with mounts
// and process ids of its own, or nil if it can. It tries once.
var lacksUserNamespaces = sync.OnceValue(func() error {
	if err := try("user namespaces", "unshare -rm true"); err != nil {
		return err
	}
	return try("user namespaces", "unshare -rpf --mount-proc true")
})

// try runs a command that needs a feature, and returns why it failed.
func try(needs, command string) error {
	words := strings.Fields(command)
	out, err := exec.CommandContext(context.Background(), words[0], words[1:]...).CombinedOutput()
	if err == nil {
		return nil
	}
	text := cmp.Or(strings.TrimSpace(string(out)), err.Error())
	return errors.New("it needs " + needs + ", and '" + command + "' failed: " + text)
}

// Skipped records that a test is skipped because the machine lacks a feature. In CI it
// returns an error, with which the test must fail.
func Skipped(test string, lacks error) error {
	if os.Getenv("CI") != "" {
		return fmt.Errorf("%s must run in CI: %w", test, lacks)
	}
	path := os.Getenv(EnvSkips)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "skipped %s: %v\n", test, lacks)
	return errors.Join(err, f.Close())
}

func need(tb testing.TB, feature string) {
	tb.Helper()
	lacks := Lacks(feature)
	if lacks == nil {
		return
	}
	if err := Skipped(tb.Name(), lacks); err != nil {
		tb.Fatal(err)
	}
	tb.Skip(lacks)
}

// Lacks returns why the machine lacks a feature, or nil if it has it. Features
// are root, userns, cgroups, bwrap, landlock, strace, node and dlv.
func Lacks(feature string) error {
	lacks, ok := map[string]func() error{
		"root": lacksRoot, "userns": lacksUserNamespaces, "cgroups": lacksControlGroups,
		"bwrap": lacksBubblewrap, "landlock": lacksLandlock, "strace": lacksStrace, "node": lacksNode, "dlv": lacksDelve,
	}[feature]
	if ok {
		return lacks()
	}
	return fmt.Errorf("unknown feature %q: it must be root, userns, cgroups, bwrap, landlock, strace, node or dlv", feature)
}

// Landlock skips the test where the kernel can't keep a process from writing to files.
func Landlock(tb testing.TB) {
	tb.Helper()
	need(tb, "landlock")
}

// ControlGroups skips the test where no groups can be made that limit memory, CPUs and
// processes, and freeze.
func ControlGroups(tb testing.TB) {
	tb.Helper()
	need(tb, "cgroups")
}

// Bubblewrap skips the test where no sandbox can be made.
func Bubblewrap(tb testing.TB) {
	tb.Helper()
	need(tb, "bwrap")
}

// lacksBubblewrap returns why bubblewrap can't make a sandbox, or nil if it can. It tries
// once.
var lacksBubblewrap = sync.OnceValue(func() error {
	return try("sandboxes", "bwrap --ro-bind / / --proc /proc --dev /dev --unshare-pid true")
})

// Strace skips the test where strace can't trace a program that it starts.
func Strace(tb testing.TB) {
	tb.Helper()
	need(tb, "strace")
}

var lacksStrace = sync.OnceValue(func() error { return try("strace", "strace -f -o /dev/null true") })

// Node skips the test where there is no Node.js.
func Node(tb testing.TB) {
	tb.Helper()
	need(tb, "node")
}

// Delve returns the debugger of Go, and skips the test where there is none.
func Delve(tb testing.TB) (path string) {
	tb.Helper()
	need(tb, "dlv")
	return delve()
}

// delve returns the path of the debugger, which go install puts into a directory that may not be
// in PATH; empty if it is not there.
var delve = sync.OnceValue(func() string {
	if path, err := exec.LookPath("dlv"); err == nil {
		return path
	}
	dir, err := exec.Command("go", "env", "GOPATH").Output()
	path, lookErr := exec.LookPath(filepath.Join(strings.TrimSpace(string(dir)), "bin", "dlv"))
	if err != nil || lookErr != nil {
		return ""
	}
	return path
})

func lacksDelve() error {
	if delve() == "" {
		return errors.New("it needs dlv: go install github.com/go-delve/delve/cmd/dlv@latest")
	}
	return nil
}

var lacksNode = sync.OnceValue(func() error { return try("Node.js", "node --version") })

// lacksControlGroups tries: that a directory may be written to does not say that a group in
// it limits anything.
func lacksControlGroups() error {
	m := cgroup.Look()
	for _, c := range []cgroup.Controller{cgroup.Memory, cgroup.CPU, cgroup.PIDs, cgroup.Freezer} {
		if m.Version(c) == 0 {
			return fmt.Errorf("it needs control groups for %s: %s", cgroup.Word(c), m.Missing(c))
		}
	}
	return nil
}

func lacksRoot() error {
	if os.Geteuid() != 0 {
		return errors.New("it needs root")
	}
	return nil
}
