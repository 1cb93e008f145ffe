package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// strange makes what is no regular file at path, by its name.
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
