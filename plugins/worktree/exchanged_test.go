package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/swarm"
)

// plant makes a repository whose configuration runs programs, and returns a file that these
// write.
func (f *fixture) plant(dir string) (ran string) {
	f.Helper()
	ran = filepath.Join(f.top, "ran")
	run := "echo ran >> " + git.Word(ran) + "; cat"
	for _, key := range []string{"filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "diff.external", "diff.evil.textconv", "core.pager", "core.sshCommand"} {
		f.git(dir, "config", key, run)
	}
	f.git(dir, "config", "filter.evil.required", "true")
	return ran
}

// TestExchangedRepository checks that git reads the repository that was examined: here the
// .git of the worktree leads to another one from the moment in which the first git starts in
// it.
func TestExchangedRepository(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(f *fixture, w *Workspace) error{
		"summary": func(f *fixture, w *Workspace) error {
			_, err := w.Diff(f.Context(), f.ref, swarm.DiffOptions{Summary: true})
			return err
		},
		"diff": func(f *fixture, w *Workspace) error {
			_, err := w.Diff(f.Context(), f.ref, swarm.DiffOptions{})
			return err
		},
		"inspect": func(f *fixture, w *Workspace) error {
			_, err := w.Inspect(f.Context(), f.ref, swarm.RemoveOptions{Force: true})
			return err
		},
		"remove": func(f *fixture, w *Workspace) error {
			_, err := w.Remove(f.Context(), f.ref, swarm.RemoveOptions{Force: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			wt := f.ref.Path
			evil := filepath.Join(f.top, "evil")
			f.must(os.CopyFS(evil, os.DirFS(template)))
			ran := f.plant(evil)
			f.write(f.top, "planted", "gitdir: "+evil+"/.git\n")
			f.write(wt, ".gitattributes", "* filter=evil diff=evil\n")
			f.write(wt, "tracked", "two\n")
			f.write(wt, "new", "new\n")
			w := newWorkspace()
			w.git.Bin = f.wrap(`wt=` + git.Word(wt) + `
				case "$PWD" in "$wt"*)
				test "$GIT_DIR" && test "$GIT_WORK_TREE" || echo "$@" >> '` + f.top + `/searched'
				cp '` + f.top + `/planted' "$wt/.git" ;;
			esac`)
			if err := call(f, w); err != nil {
				t.Errorf("%v", err)
			}
			if f.exists(ran) {
				t.Error("a program of the planted repository ran")
			}
			if calls, err := os.ReadFile(f.top + "/searched"); err == nil {
				t.Errorf("git looked for the repository itself in: %s", calls)
			}
			// The control: git, which looks for the repository, runs it.
			if dotGit, err := os.ReadFile(wt + "/.git"); err != nil || !strings.Contains(string(dotGit), evil) {
				t.Errorf("nothing was exchanged: %s, %v", dotGit, err)
			}
			_ = f.command(wt, "git", "diff").Run()
			if !f.exists(ran) {
				t.Error("the planted repository is harmless")
			}
		})
	}
}

// TestExchangedConfiguration checks that no program of a nested repository runs, whose
// configuration is written right before each git that starts in it.
func TestExchangedConfiguration(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	sub := f.submodule(f.ref.Path)
	f.commit(sub, ".gitattributes", "* filter=late\n")
	f.git(f.ref.Path, "commit", "-qam", "use it")
	f.git(sub, "update-ref", "refs/remotes/origin/here", "HEAD")
	f.write(sub, "code", "two\n")
	ran := filepath.Join(f.top, "ran")
	w := newWorkspace()
	w.git.Bin = f.wrap(`sub=` + git.Word(sub) + `
	case "$PWD" in "$sub"*)
		test "$GIT_DIR" && test "$GIT_WORK_TREE" || echo "$@" >> '` + f.top + `/searched'
		env -u GIT_DIR -u GIT_COMMON_DIR -u GIT_WORK_TREE git config filter.late.clean "echo ran >> '` + ran + `'; cat"
		env -u GIT_DIR -u GIT_COMMON_DIR -u GIT_WORK_TREE git config core.fsmonitor "echo ran >> '` + ran + `'" ;;
	esac`)
	state, err := w.Inspect(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || state.Kept == nil || state.Kept.Reason != "submodule 'vendor/lib' has 1 uncommitted change(s)" {
		t.Errorf("%+v, %v", state.Kept, err)
	}
	if f.exists(ran) || f.exists(f.top+"/searched") {
		t.Error("a program of the nested repository ran, or git looked for the repository")
	}
	_ = f.command(sub, "git", "diff").Run()
	if !f.exists(ran) {
		t.Error("the configuration is harmless")
	}
}
