package box

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestMain makes the test binary the first process of the sandboxes.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Arg {
		os.Exit(Inside())
	}
	if len(os.Args) == 4 && os.Args[1] == tryKeys {
		tryKey(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// sandboxed starts a script in a sandbox and returns what it wrote. before is called right
// before each start of bubblewrap.
func sandboxed(t *testing.T, script string, options []string, before func()) string {
	t.Helper()
	return sandboxedBy(t, bubblewrap, script, options, before)
}

const bubblewrap = "/usr/bin/bwrap"

// sandboxedBy is sandboxed by a program in the place of bubblewrap.
func sandboxedBy(t *testing.T, program, script string, options []string, before func()) string {
	t.Helper()
	machinetest.Bubblewrap(t)
	if _, err := os.Stat(bubblewrap); err != nil {
		t.Skip(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pid := 0
	b, _, err := Start(Spec{
		ID: "w", Command: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"},
		Wrap:    append([]string{program, "--unshare-pid", "--as-pid-1", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}, options...),
		Streams: []uintptr{null.Fd(), out.Fd(), out.Fd()},
		Fork: func(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
			before()
			var err error
			pid, err = syscall.ForkExec(program, argv, attr)
			return pid, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// A kill right after the start finds the worker below the shim, not below what is ending.
	if _, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("bubblewrap is still there: %v", err)
	}
	<-b.Over
	said, err := os.ReadFile(out.Name())
	if err != nil || !b.Reported {
		t.Fatalf("reported: %t, %v", b.Reported, err)
	}
	return strings.TrimSpace(string(said))
}

// TestVanishedSocket checks that a path to hide may vanish while the sandbox is made.
func TestVanishedSocket(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var options []string
	sockets := []string{filepath.Join(top, "first"), filepath.Join(top, "second")}
	for _, path := range sockets {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		options = append(options, rundir.WrapHide, path)
	}
	starts := 0
	said := sandboxed(t, "echo started", options, func() {
		if starts < len(sockets) {
			_ = os.Remove(sockets[starts])
		}
		starts++
	})
	if said != "started" || starts != len(sockets)+1 {
		t.Errorf("%q after %d starts", said, starts)
	}
}

// TestHiddenDirectories checks that a hidden directory shows nothing but what is mounted below
// it, and can't be written, also one that is reached through a symbolic link.
func TestHiddenDirectories(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hidden, moved, link := filepath.Join(top, "hidden"), filepath.Join(top, "moved"), filepath.Join(top, "link")
	work := filepath.Join(hidden, "deep", "work")
	for _, dir := range []string{work, filepath.Join(hidden, "secret"), filepath.Join(moved, "secret")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(moved, link); err != nil {
		t.Fatal(err)
	}
	said := sandboxed(t, "exec 2>/dev/null; ls "+hidden+" "+moved+" "+link+"; touch "+hidden+"/x && echo written; touch "+work+"/x && echo worked",
		[]string{rundir.WrapHide, hidden, rundir.WrapHide, link, "--bind", work, work}, func() {})
	want := hidden + ":\ndeep\n\n" + moved + ":\n\n" + link + ":\nworked"
	want2 := strings.ReplaceAll(want, moved+":\n\n"+link+":", link+":\n\n"+moved+":")
	if said != want && said != want2 {
		t.Errorf("%q", said)
	}
	if _, err := os.Stat(work + "/x"); err != nil {
		t.Error(err)
	}
}

// TestMountGone checks that the start is tried again after a mount went while bubblewrap looked
// at all of them: engines mount and unmount for each of their containers.
func TestMountGone(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"Invalid argument", "No such file or directory"} {
		dir := t.TempDir()
		text := `#!/bin/sh
test -e ` + dir + `/once && exec ` + bubblewrap + ` "$@"
: > ` + dir + `/once
echo 'bwrap: Can'"'"'t bind mount /oldroot/ on /newroot/: Unable to apply mount flags: remount "/newroot/x": ` + reason + `' >&2
exit 1
`
		program := filepath.Join(dir, "bwrap")
		if err := buildtest.Write(program, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		starts := 0
		if said := sandboxedBy(t, program, "echo started", nil, func() { starts++ }); said != "started" || starts != 2 {
			t.Errorf("%q after %d starts", said, starts)
		}
	}
}
