package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/machinetest"
)

const stranger = 4242

// place makes a tree in a directory that obeys the rule.
func place(t *testing.T, build func(dir string) error) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := build(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(path string, mode fs.FileMode) error {
	return errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode))
}

func mkdir(path string, mode fs.FileMode) error {
	return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, mode))
}

func TestPath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		root  bool // it gives files away
		build func(dir string) error
		path  string // below dir
		at    string // what breaks the rule, below dir; empty: nothing
		why   string
	}{
		{name: "own file", path: "f", build: func(dir string) error { return write(dir+"/f", 0o644) }},
		{name: "others write the file", path: "f", at: "f", why: "can be written by everybody", build: func(dir string) error {
			return write(dir+"/f", 0o646)
		}},
		{name: "others write the directory", path: "d/f", at: "d", why: "can be written by everybody", build: func(dir string) error {
			return errors.Join(mkdir(dir+"/d", 0o707), write(dir+"/d/f", 0o600))
		}},
		{name: "others write far above", path: "d/e/f", at: "d", why: "can be written by everybody", build: func(dir string) error {
			return errors.Join(mkdir(dir+"/d", 0o777), mkdir(dir+"/d/e", 0o700), write(dir+"/d/e/f", 0o600))
		}},
		{name: "sticky directory", path: "d/f", build: func(dir string) error {
			return errors.Join(mkdir(dir+"/d", 0o777|fs.ModeSticky), write(dir+"/d/f", 0o600))
		}},
		{name: "a stranger's file in a sticky directory", root: true, path: "d/f", at: "d/f", why: "is owned by", build: func(dir string) error {
			return errors.Join(mkdir(dir+"/d", 0o777|fs.ModeSticky), write(dir+"/d/f", 0o600), os.Chown(dir+"/d/f", stranger, stranger))
		}},
		{name: "a stranger's directory", root: true, path: "d/f", at: "d", why: "is owned by uid 4242, not by you or root", build: func(dir string) error {
			return errors.Join(mkdir(dir+"/d", 0o755), write(dir+"/d/f", 0o600), os.Chown(dir+"/d", stranger, 0))
		}},
		{name: "a foreign group writes", root: true, path: "f", at: "f", why: "can be written by its group", build: func(dir string) error {
			return errors.Join(write(dir+"/f", 0o664), os.Chown(dir+"/f", 0, stranger))
		}},
		{name: "link to an own file", path: "l", build: func(dir string) error {
			return errors.Join(write(dir+"/f", 0o600), os.Symlink("f", dir+"/l"))
		}},
		{name: "link through what others write", path: "l", at: "d", why: "can be written by everybody", build: func(dir string) error {
			return errors.Join(mkdir(dir+"/d", 0o707), write(dir+"/d/f", 0o600), os.Symlink("d/f", dir+"/l"))
		}},
		{name: "a stranger's link", root: true, path: "l", at: "l", why: "is owned by", build: func(dir string) error {
			return errors.Join(write(dir+"/f", 0o600), os.Symlink("f", dir+"/l"), os.Lchown(dir+"/l", stranger, stranger))
		}},
		{name: "back through ..", path: "d/../f", at: "d", why: "can be written by everybody", build: func(dir string) error {
			return errors.Join(mkdir(dir+"/d", 0o707), write(dir+"/f", 0o600))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root {
				machinetest.Root(t)
			}
			dir := place(t, tt.build)
			err := Path(dir + "/" + tt.path)
			if tt.at == "" {
				if err != nil {
					t.Fatalf("Path() = %v, want nil", err)
				}
				return
			}
			broken, ok := As(err)
			if !ok {
				t.Fatalf("Path() = %v, want an *Error", err)
			}
			if want := dir + "/" + tt.at; broken.At != want || !strings.Contains(broken.Reason, tt.why) {
				t.Errorf("Path() = %q %q, want %q %q", broken.At, broken.Reason, want, tt.why)
			}
		})
	}
}

func TestPathThatCannotBeExamined(t *testing.T) {
	t.Parallel()
	dir := place(t, func(dir string) error {
		return errors.Join(os.Symlink("b", dir+"/a"), os.Symlink("a", dir+"/b"), write(dir+"/f", 0o600))
	})
	for _, tt := range []struct {
		path string
		want error
	}{
		{dir + "/none", fs.ErrNotExist},
		{dir + "/a", syscall.ELOOP},
		{dir + "/f/x", syscall.ENOTDIR},
	} {
		if err := Path(tt.path); !errors.Is(err, tt.want) {
			t.Errorf("Path(%s) = %v, want %v", tt.path, err, tt.want)
		}
	}
	if err := Path("f"); err == nil {
		t.Error("Path() of a relative path = nil")
	}
}

func TestOnlyMember(t *testing.T) {
	t.Parallel()
	user := func(name string, uid, gid int) string {
		return name + ":x:" + strconv.Itoa(uid) + ":" + strconv.Itoa(gid) + "::/:/bin/sh\n"
	}
	me := os.Geteuid()
	for _, tt := range []struct {
		name, passwd, group string
		want                bool
	}{
		{"private", user("me", me, 77), "me:x:77:\n", true},
		{"private with its owner as a member", user("me", me, 77), "me:x:77:me,root\n", true},
		{"another member", user("me", me, 77), "me:x:77:eve\n", false},
		{"another user's group too", user("me", me, 77) + user("eve", 4243, 77), "me:x:77:\n", false},
		{"not the primary group", user("me", me, 78), "shared:x:77:me\n", false},
		{"a group that is not listed", user("me", me, 77), "", false},
		{"no database", "", "", false},
	} {
		if got := onlyMember(77, database{tt.passwd, tt.group}); got != tt.want {
			t.Errorf("%s: onlyMember() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestDir has directories in which others can create files, which is enough where all
// that is in them is believed.
func TestDir(t *testing.T) {
	t.Parallel()
	for mode, why := range map[fs.FileMode]string{
		0o755:                 "",
		0o755 | fs.ModeSticky: "",
		0o777 | fs.ModeSticky: "can be written by everybody",
		0o703 | fs.ModeSticky: "can be written by everybody",
		0o707:                 "can be written by everybody",
	} {
		dir := place(t, func(dir string) error { return mkdir(dir+"/d", mode) }) + "/d"
		err := Dir(dir)
		broken, ok := As(err)
		if why == "" && err != nil || why != "" && (!ok || broken.At != dir || broken.Reason != why) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if err := Dir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
