package gitdir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// layouts makes one repository of each kind in the directory $1.
const layouts = `set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
cd "$1"
git init -q main
git -C main -c user.name=t -c user.email=t@t commit -q --allow-empty -m first
mkdir -p main/sub/dir
git -C main worktree add -q --detach ../linked
mkdir linked/dir
git init -q --separate-git-dir=apart separate
git init -q --bare bare
ln -s main/sub link
mkdir -p none/dir unusable/.git unusable/dir main/unusable/.git
mkdir damaged dangling
echo nonsense > damaged/.git
echo 'gitdir: /nowhere/at/all' > dangling/.git
`

func makeLayouts(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", "-c", layouts, "sh", top).CombinedOutput(); err != nil {
		t.Fatalf("make repositories: %v\n%s", err, out)
	}
	return top
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	top := makeLayouts(t)
	for dir, want := range map[string]Layout{
		"main":                       {Top: "main", GitDir: "main/.git", Common: "main/.git"},
		"main/sub/dir":               {Top: "main", Dir: "sub/dir", GitDir: "main/.git", Common: "main/.git"},
		"main/.git":                  {Top: "main", GitDir: "main/.git", Common: "main/.git"},
		"main/.git/refs":             {Top: "main", GitDir: "main/.git", Common: "main/.git"},
		"main/unusable":              {Top: "main", Dir: "unusable", GitDir: "main/.git", Common: "main/.git"},
		"link/dir":                   {Top: "main", Dir: "sub/dir", GitDir: "main/.git", Common: "main/.git"},
		"linked":                     {Top: "linked", GitDir: "main/.git/worktrees/linked", Common: "main/.git"},
		"linked/dir":                 {Top: "linked", Dir: "dir", GitDir: "main/.git/worktrees/linked", Common: "main/.git"},
		"separate":                   {Top: "separate", GitDir: "apart", Common: "apart"},
		"bare":                       {Top: "bare", GitDir: "bare", Common: "bare", Bare: true},
		"bare/refs/heads":            {Top: "bare", GitDir: "bare", Common: "bare", Bare: true},
		"main/.git/worktrees/linked": {Top: "main", GitDir: "main/.git", Common: "main/.git"},
	} {
		got, err := Discover(filepath.Join(top, dir))
		if err != nil {
			t.Errorf("Discover(%s): %v", dir, err)
			continue
		}
		for _, path := range []*string{&want.Top, &want.GitDir, &want.Common} {
			*path = filepath.Join(top, *path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Discover(%s) (-want +got):\n%s", dir, diff)
		}
	}
}

func TestDiscoverFails(t *testing.T) {
	t.Parallel()
	top := makeLayouts(t)
	for dir, want := range map[string]string{
		"none/dir":     ErrNotFound.Error(),
		"unusable/dir": filepath.Join(top, "unusable/.git") + " is not a git directory",
		"damaged":      filepath.Join(top, "damaged/.git") + " is damaged",
		"dangling":     "no such file or directory",
		"missing":      "no such file or directory",
	} {
		_, err := Discover(filepath.Join(top, dir))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("Discover(%s): %v, want %s", dir, err, want)
		}
		if notFound := errors.Is(err, ErrNotFound); notFound != (dir == "none/dir") {
			t.Errorf("Discover(%s): is ErrNotFound: %v", dir, notFound)
		}
	}
}

// TestExamine: a file that git would wait for, or could not hold, is found in the git directory
// of a linked worktree and in the one that all share.
func TestExamine(t *testing.T) {
	t.Parallel()
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	device := func(path string) error { return os.Symlink("/dev/zero", path) }
	large := func(path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, readWholeLimit+1))
	}
	for name, c := range map[string]struct {
		make func(path string) error
		want string // empty: git can read it
	}{
		"refs/heads/fifo":                 {fifo, "is a FIFO"},
		"info/fifo":                       {fifo, "is a FIFO"},
		"worktrees/linked/fifo":           {fifo, "is a FIFO"},
		"worktrees/linked/logs/fifo":      {fifo, "is a FIFO"},
		"logs/device":                     {device, "is a device"},
		"config.worktree":                 {large, "is larger than 16 MiB"},
		"worktrees/linked/config":         {large, "is larger than 16 MiB"},
		"packed-refs":                     {large, ""}, // git does not read it whole
		"worktrees/linked/modules/a/fifo": {fifo, ""},  // modules are examined by themselves
		"dangling":                        {func(path string) error { return os.Symlink("nowhere", path) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := makeLayouts(t)
			path := filepath.Join(top, "main/.git", name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), c.make(path)); err != nil {
				t.Fatal(err)
			}
			_, err := Discover(filepath.Join(top, "linked"))
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != path+" "+c.want) {
				t.Errorf("Discover: %v, want %q", err, c.want)
			}
			if again := Examine(filepath.Join(top, "main/.git")); (again == nil) != (err == nil) {
				t.Errorf("Examine: %v, Discover: %v", again, err)
			}
		})
	}
}
