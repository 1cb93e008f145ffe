package diff

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m, nil)) }

// worked makes the worktree of worker "w" with a commit, changes and new files.
func worked(t *testing.T) swarm.WorkspaceRef {
	t.Helper()
	dir := gittest.New(t, map[string]string{"file": "one\n", "gone": "one\n", ".gitignore": "*.log\n"})
	path := filepath.Join(filepath.Dir(dir), "w")
	gittest.Run(t, dir, "worktree", "add", "-q", "-b", "w", path)
	gittest.Write(t, gittest.Run(t, path, "rev-parse", "--absolute-git-dir"), "swarm-worker", "id\n")
	gittest.Write(t, path, "committed", "a\nb\n")
	gittest.Run(t, path, "add", "committed")
	gittest.Run(t, path, "commit", "-qm", "more")
	gittest.Write(t, path, "file", "one\ntwo\n")
	gittest.Write(t, path, "new", "1\n2\n3")
	gittest.Write(t, path, "binary", "\x00")
	gittest.Write(t, path, "a.log", "ignored\n")
	if err := os.Symlink("file", filepath.Join(path, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(path, "gone")); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "meanwhile")
	return swarm.WorkspaceRef{ID: "id", Name: "w", Path: path, Base: dir}
}

// changes are those of worked.
var changes = []swarm.FileChange{
	{Path: "binary", Added: -1, Removed: -1},
	{Path: "committed", Added: 2},
	{Path: "file", Added: 1},
	{Path: "gone", Removed: 1},
	{Path: "link", Added: 1},
	{Path: "new", Added: 3},
}

func compare(t *testing.T, ref swarm.WorkspaceRef, colour swarm.Colour) swarm.Diff {
	t.Helper()
	r, err := repo.Open(t.Context(), git.Git{Bin: "git"}, ref.Base, true)
	if err != nil {
		t.Fatal(err)
	}
	tree, kept, err := inspect.Find(t.Context(), r, ref)
	if err != nil || kept != nil {
		t.Fatalf("Find: %+v, %v", kept, err)
	}
	d, err := Compare(t.Context(), tree, colour)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCompare: the files as they are against the beginning of the worktree, and a summary of the same.
func TestCompare(t *testing.T) {
	t.Parallel()
	ref := worked(t)
	summary, err := Summary(t.Context(), git.Git{Bin: "git"}, ref)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]swarm.Diff{"Compare": compare(t, ref, swarm.ColourNever), "Summary": summary} {
		if diff := cmp.Diff(changes, d.Files); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if d.Ahead == nil || d.Behind == nil || *d.Ahead != 1 || *d.Behind != 1 {
			t.Errorf("%s: ahead %v, behind %v, want 1 and 1", name, d.Ahead, d.Behind)
		}
	}
}

// TestCommand: the command for the user shows the same files, and runs no program of the repository.
func TestCommand(t *testing.T) {
	t.Parallel()
	ref := worked(t)
	ran := filepath.Join(t.TempDir(), "ran")
	gittest.Run(t, ref.Base, "config", "diff.external", "touch "+ran)
	gittest.Run(t, ref.Base, "config", "core.pager", "touch "+ran)
	d := compare(t, ref, swarm.ColourAlways)
	if !slices.Contains(d.Command, "--color=always") {
		t.Errorf("the command has no colour: %q", d.Command)
	}
	if !slices.Contains(d.Unset, "GIT_DIR") || slices.Contains(d.Unset, "GIT_CONFIG_GLOBAL") {
		t.Errorf("it unsets %q", d.Unset)
	}
	if slices.ContainsFunc(d.Env, func(e string) bool { return strings.HasPrefix(e, "GIT_PAGER=touch") }) {
		t.Errorf("it has the pager of the repository: %q", d.Env)
	}
	args := append(slices.Clone(d.Command[1:]), "--stat")
	at := slices.Index(args, "--")
	args = slices.Insert(slices.Delete(args, at, len(args)), at, "--stat")
	if out := gittest.Run(t, "/", args...); !strings.Contains(out, "6 files changed") {
		t.Errorf("it shows\n%s", out)
	}
	if _, err := os.Lstat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Error("a program of the repository ran")
	}
}

// TestSummaryRefuses a directory that is not the worker's.
func TestSummaryRefuses(t *testing.T) {
	t.Parallel()
	ref := worked(t)
	other := ref
	other.ID = "another"
	if _, err := Summary(t.Context(), git.Git{Bin: "git"}, other); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("another worker's: %v", err)
	}
	other = ref
	other.Path += "-gone"
	if _, err := Summary(t.Context(), git.Git{Bin: "git"}, other); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("a worktree that is gone: %v", err)
	}
}

// TestRefusedFiles: a file that git takes into no index is shown too.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	ref := worked(t)
	gittest.Write(t, ref.Path, "sub/.GIT/notes", "note\n")
	want := append(slices.Clone(changes), swarm.FileChange{Path: "sub/.GIT/notes", Added: 1})
	if diff := cmp.Diff(want, compare(t, ref, swarm.ColourNever).Files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
