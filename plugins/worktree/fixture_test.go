package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fixture is a repository with one commit and a worktree of worker "w".
type fixture struct {
	*testing.T
	// top is a directory for the test's own use, repo the repository in it.
	top, repo string
	ref       swarm.WorkspaceRef
	// unprivileged makes removeFrom drop root's privileges.
	unprivileged bool
}

// template is the repository that newFixture copies, in the directory of TestMain.
var template string

// makeTemplate makes the template in dir.
func makeTemplate(dir string) error {
	script := `set -e
git init -q "$1"
cd "$1"
rm -f .git/hooks/*
echo one | tee tracked other > /dev/null
mkdir dir
echo one > dir/file
echo '#!/bin/sh' > run.sh
printf '%s\n' .env '*.log' build/ > .gitignore
ln -s tracked link
git add --all
git commit -qm first`
	template = filepath.Join(dir, "template")
	cmd := userCommand(context.Background(), dir, "sh", "-c", script, "sh", template)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make a repository: %w\n%s", err, out)
	}
	return nil
}

// newFixture makes a repository; its name needs quoting.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, top: top, repo: filepath.Join(top, "it's a repo")}
	f.must(os.CopyFS(f.repo, os.DirFS(template)))
	// The index knows unchanged files by their inodes, which are new.
	f.git(f.repo, "update-index", "-q", "--refresh")
	return f
}

// withWorktree makes the worktree of worker "w".
func withWorktree(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.ref = f.create(swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
	return f
}

func newWorkspace() *Workspace { return New(Config{}, slog.New(slog.DiscardHandler)) }

func (f *fixture) create(spec swarm.WorkspaceSpec) swarm.WorkspaceRef {
	f.Helper()
	ref, err := newWorkspace().Create(f.Context(), spec)
	if err != nil {
		f.Fatalf("Create(%+v): %v", spec, err)
	}
	return ref
}

// command is git as a user would run it in dir.
func (f *fixture) command(dir string, name string, args ...string) *exec.Cmd {
	return userCommand(f.Context(), dir, name, args...)
}

func userCommand(ctx context.Context, dir string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = gittest.Env()
	return cmd
}

func (f *fixture) git(dir string, args ...string) string {
	f.Helper()
	out, err := f.command(dir, "git", args...).CombinedOutput()
	if err != nil {
		f.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return string(out)
}

// fails is git that has to fail, such as a merge with conflicts.
func (f *fixture) fails(dir string, args ...string) {
	f.Helper()
	if out, err := f.command(dir, "git", args...).CombinedOutput(); err == nil {
		f.Fatalf("git %s in %s did not fail:\n%s", strings.Join(args, " "), dir, out)
	}
}

func (f *fixture) write(dir, name, content string) {
	f.Helper()
	gittest.Write(f, dir, name, content)
}

// commit commits a change of a file in dir, and returns it.
func (f *fixture) commit(dir, name, content string) string {
	f.Helper()
	f.write(dir, name, content)
	f.git(dir, "add", name)
	f.git(dir, "commit", "-qm", "change "+name)
	return strings.TrimSpace(f.git(dir, "rev-parse", "HEAD"))
}

// manifest describes every file below dir, byte for byte. Directories in which
// there is no file are left out, as git leaves them out.
func (f *fixture) manifest(dir string, without ...string) string {
	f.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, syscall.ENAMETOOLONG) {
			fmt.Fprintf(&b, "%q\n", path)
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		for _, w := range without {
			if rel == w {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		info, err := d.Info()
		if errors.Is(err, syscall.ENAMETOOLONG) {
			fmt.Fprintf(&b, "%q\n", rel)
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			fmt.Fprintf(&b, "%q -> %q\n", rel, to)
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%q %t %d %x\n", rel, info.Mode()&0o100 != 0, len(content), sha256.Sum256(content))
			return err
		default:
			fmt.Fprintf(&b, "%q %v\n", rel, info.Mode().Type())
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return b.String()
}

// refs lists all refs but the rescues.
func (f *fixture) refs() string {
	f.Helper()
	var b strings.Builder
	for line := range strings.Lines(f.git(f.repo, "for-each-ref")) {
		if !strings.Contains(line, "refs/swarm/rescue/") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (f *fixture) rescueRefs() []string {
	f.Helper()
	return strings.Fields(f.git(f.repo, "for-each-ref", "--format=%(refname)", "refs/swarm/"))
}

// removeFrom inspects and removes the worktree in a process of its own, whose
// working directory is cwd.
func (f *fixture) removeFrom(cwd string, opts swarm.RemoveOptions) removal {
	f.Helper()
	in, err := json.Marshal(removal{Ref: f.ref, Opts: opts})
	if err != nil {
		f.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	cmd := exec.CommandContext(f.Context(), self)
	if f.unprivileged && os.Getuid() == 0 {
		cmd.Path = filepath.Join(f.top, "self")
		f.must(f.command("/", "cp", self, cmd.Path).Run())
		const id = 65534
		f.must(f.command("/", "chown", "-R", fmt.Sprint(id), filepath.Dir(f.top)).Run())
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}
	cmd.Dir = cwd
	cmd.Env = append(os.Environ(), removeEnv+"="+string(in))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		f.Fatalf("remove from %s: %v\n%s", cwd, err, stderr.String())
	}
	var r removal
	if err := json.Unmarshal(out, &r); err != nil {
		f.Fatalf("%v\n%s", err, out)
	}
	if r.Err == "" && !cmp.Equal(r.State.Kept, r.Result.Kept) {
		f.Errorf("Inspect says %+v, Remove %+v", r.State.Kept, r.Result.Kept)
	}
	return r
}

func (f *fixture) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
