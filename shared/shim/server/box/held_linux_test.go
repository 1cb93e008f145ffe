package box

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/machinetest"
)

// exchange is a directory that a sandbox has, and one that it is not to have.
type exchange struct{ top, dir, victim string }

func newExchange(t *testing.T) exchange {
	t.Helper()
	machinetest.Bubblewrap(t)
	if _, err := os.Stat(bubblewrap); err != nil {
		t.Skip(err)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := exchange{top, filepath.Join(top, "work dir"), filepath.Join(top, "victim")}
	for _, dir := range []string{x.dir, x.victim} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// swap puts a link to the victim in the place of the directory, and back takes that back.
func (x exchange) swap() {
	_ = os.Rename(x.dir, x.dir+".gone")
	_ = os.Symlink(x.victim, x.dir)
}

func (x exchange) back() {
	_ = os.Remove(x.dir)
	_ = os.Rename(x.dir+".gone", x.dir)
}

// start starts a worker that writes to the directory, and returns the error of the start.
func (x exchange) start(t *testing.T, program string, before func(try int)) error {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	try := 0
	b, _, err := Start(Spec{
		ID: "w", Command: []string{"sh", "-c", "echo x > '" + x.dir + "/x'; echo x > '" + x.victim + "/x'; echo x > '" + x.top + "/elsewhere/x'"},
		Env:     []string{"PATH=/usr/bin:/bin"},
		Wrap:    []string{program, "--unshare-pid", "--as-pid-1", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", x.dir, x.dir},
		Streams: []uintptr{null.Fd(), null.Fd(), null.Fd()},
		Fork: func(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
			try++
			before(try)
			return syscall.ForkExec(program, argv, attr)
		},
	})
	if err == nil {
		<-b.Over
	}
	return err
}

func (x exchange) written(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "x"))
	return err == nil
}

// TestExchangedDirectory exchanges the directory of a worker after the shim has looked at it, as
// another worker could that has a directory above it.
func TestExchangedDirectory(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(exchange, int){
		"once": func(x exchange, try int) {
			if try == 1 {
				x.swap()
			} else {
				x.back()
			}
		},
		"always": func(x exchange, try int) {
			if try == 1 {
				x.swap()
			}
		},
		"another directory": func(x exchange, try int) {
			if try == 1 {
				_ = unix.Renameat2(unix.AT_FDCWD, x.dir, unix.AT_FDCWD, x.victim, unix.RENAME_EXCHANGE)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			err := x.start(t, bubblewrap, func(try int) { before(x, try) })
			if x.written(x.victim) && name != "another directory" {
				t.Error("the victim was written to")
			}
			if name == "always" && (err == nil || !strings.Contains(err.Error(), "sandbox")) {
				t.Errorf("%v", err)
			}
			if name == "once" && err == nil && !x.written(x.dir) {
				t.Error("the worker could not write to its directory")
			}
		})
	}
}

// TestExchangedMount has a bubblewrap that mounts something else than it was asked to, as it does
// if a name is exchanged between the moments at which it looks at it.
func TestExchangedMount(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]string{
		"another source":   `[ "$a" = --bind ] && swap=1; if [ "$swap" ] && [ "$a" = "$DIR" ]; then a=$VICTIM; swap=; fi; set -- "$@" "$a"`,
		"another place":    `[ "$a" = -- ] && set -- "$@" --bind "$VICTIM" "$TOP/elsewhere"; set -- "$@" "$a"`,
		"below the place":  `[ "$a" = -- ] && set -- "$@" --bind "$VICTIM" "$DIR/sub"; set -- "$@" "$a"`,
		"above the place":  `[ "$a" = -- ] && set -- "$@" --bind "$VICTIM" "$DIR"; set -- "$@" "$a"`,
		"read-only source": `[ "$a" = -- ] && set -- "$@" --ro-bind "$VICTIM" "$TOP/elsewhere"; set -- "$@" "$a"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			for _, dir := range []string{x.top + "/elsewhere", x.dir + "/sub"} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			program := filepath.Join(x.top, "bwrap")
			script := "#!/bin/sh\nTOP='" + x.top + "' DIR='" + x.dir + "' VICTIM='" + x.victim + "'\nfor a do shift; " + edit + "; done\nexec " + bubblewrap + " \"$@\"\n"
			if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			err := x.start(t, program, func(int) {})
			if err == nil || !strings.Contains(err.Error(), exchanged) {
				t.Errorf("%v", err)
			}
			if x.written(x.victim) || x.written(x.dir) {
				t.Error("the worker has run")
			}
		})
	}
}

// TestHoldOne: nothing is opened over a link, on kernels of any age.
func TestHoldOne(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	if err := os.Symlink(x.dir, x.top+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(x.dir+"/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{x.dir: true, x.dir + "/sub": true, x.top + "/link": false, x.top + "/link/sub": false, x.top + "/none": false, "/": true} {
		h, err := holdOne(path)
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			_ = unix.Close(h.fd)
		}
		fd, err := walk(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC)
		var st unix.Stat_t
		if err == nil {
			if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
				err = unix.ELOOP
			}
			_ = unix.Close(fd)
		}
		if (err == nil) != ok {
			t.Errorf("part by part, %s: %v", path, err)
		}
	}
}
