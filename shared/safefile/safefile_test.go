package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/machinetest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		root bool
		make func(path string) error
		want string // the contents, or what the error says
		bad  bool
	}{
		{name: "file", make: func(p string) error { return os.WriteFile(p, []byte("text"), 0o600) }, want: "text"},
		{name: "file of exactly the limit", make: func(p string) error { return os.WriteFile(p, []byte("12345678"), 0o600) }, want: "12345678"},
		{name: "too large", make: func(p string) error { return os.WriteFile(p, []byte("123456789"), 0o600) }, bad: true, want: "is larger than 8 bytes"},
		{name: "sparse", make: func(p string) error {
			return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 2<<30))
		}, bad: true, want: "is larger than 8 bytes"},
		{name: "FIFO", make: func(p string) error { return syscall.Mkfifo(p, 0o600) }, bad: true, want: "is a FIFO"},
		{name: "directory", make: func(p string) error { return os.Mkdir(p, 0o700) }, bad: true, want: "is a directory"},
		{name: "link", make: func(p string) error {
			return errors.Join(os.WriteFile(p+"x", []byte("text"), 0o600), os.Symlink(p+"x", p))
		}, bad: true, want: "is a symbolic link"},
		{name: "another user's", root: true, make: func(p string) error {
			return errors.Join(os.WriteFile(p, []byte("text"), 0o644), os.Chown(p, 4242, 4242))
		}, bad: true, want: "is owned by another user"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root {
				machinetest.Root(t)
			}
			path := filepath.Join(t.TempDir(), "f")
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path, 8)
			if !tt.bad {
				if err != nil || string(got) != tt.want {
					t.Errorf("Read() = %q, %v, want %q", got, err, tt.want)
				}
				return
			}
			if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read() = %q, %v, want ErrUnsafe that says %q", got, err, tt.want)
			}
			if tt.root {
				if got, err := ReadForeign(path, 8); err != nil || string(got) != "text" {
					t.Errorf("ReadForeign() = %q, %v", got, err)
				}
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none"), 8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read() of a missing file = %v", err)
	}
}

// TestReadDir: anything but a directory is an error at once.
func TestReadDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(path("d"), 0o700), os.WriteFile(path("d/b"), nil, 0o600), os.WriteFile(path("d/a"), nil, 0o600),
		os.Symlink("d", path("link")), os.WriteFile(path("file"), nil, 0o600), syscall.Mkfifo(path("fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d", "link"} {
		entries, err := ReadDir(path(name))
		if err != nil || len(entries) != 2 || entries[0].Name() != "a" || entries[1].Name() != "b" {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
	for _, name := range []string{"file", "fifo"} {
		if entries, err := ReadDir(path(name)); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
	if _, err := ReadDir(path("nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}
