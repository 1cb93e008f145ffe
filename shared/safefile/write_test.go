package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// strange makes files at path that are not regular, by name.
var strange = map[string]func(path string) error{
	"FIFO":         func(p string) error { return syscall.Mkfifo(p, 0o600) },
	"link":         func(p string) error { return os.Symlink("elsewhere", p) },
	"broken link":  func(p string) error { return os.Symlink("none", p) },
	"regular file": func(p string) error { return os.WriteFile(p, []byte("before"), 0o644) },
	"nothing":      func(string) error { return nil },
}

func TestCreate(t *testing.T) {
	t.Parallel()
	for name, make := range strange {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, other := filepath.Join(dir, "f"), filepath.Join(dir, "elsewhere")
			if err := errors.Join(os.WriteFile(other, []byte("other"), 0o600), make(path)); err != nil {
				t.Fatal(err)
			}
			f, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString("text")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Error(err)
			}
			if got, err := Read(path, 10); err != nil || string(got) != "text" {
				t.Errorf("it holds %q, %v", got, err)
			}
			if got, err := os.ReadFile(other); err != nil || string(got) != "other" {
				t.Errorf("the other file holds %q, %v", got, err)
			}
			if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
	dir := t.TempDir()
	if f, err := Create(dir); err == nil {
		t.Errorf("a directory was replaced by %s", f.Name())
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for name, make := range strange {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "f")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			f, err := Append(path)
			if name != "regular file" && name != "nothing" {
				if err == nil {
					t.Errorf("%s was opened", name)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString("!")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Error(err)
			}
			want := "before!"
			if name == "nothing" {
				want = "!"
			}
			if got, err := Read(path, 10); err != nil || string(got) != want {
				t.Errorf("it holds %q, %v", got, err)
			}
		})
	}
	if _, err := Append(filepath.Join(t.TempDir(), "none", "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
}

// TestReplace: the file is there whole, with its mode, and nothing is left next to it.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, data := range []string{"first", "second", ""} {
		for _, replace := range []func() error{
			func() error { return Replace(path, []byte(data), 0o644) },
			func() error { return ReplaceCache(path, []byte(data)) },
		} {
			if err := replace(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != data {
				t.Errorf("got %q, %v, want %q", got, err, data)
			}
		}
	}
	if err := Replace(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// A link is replaced, and what it leads to stays.
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Symlink("f", link), Replace(link, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(link, 8); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "d"), []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if err := Replace(filepath.Join(dir, "none", "f"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if entries, err := ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

func TestLockDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := LockDir(dir, Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []int{Exclusive, Shared} {
		if _, err := LockDir(dir, how|NoWait); !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Errorf("a held lock: %v", err)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	// A program that another test is just starting has a copy of the lock until it runs, so
	// the first one waits.
	for _, how := range []int{Shared, Shared | NoWait} {
		shared, err := LockDir(dir, how)
		if err != nil {
			t.Fatal(err)
		}
		defer shared.Close()
	}
	if _, err := LockDir(filepath.Join(dir, "none"), Exclusive); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
