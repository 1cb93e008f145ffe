package rescue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m, nil)) }

// changed returns the inspected worktree of worker "w" with a change of each kind.
func changed(t *testing.T) *inspect.Tree {
	t.Helper()
	dir := gittest.New(t, map[string]string{"file": "one\n", "gone": "one\n", "mixed": "a\r\nb\n", ".gitignore": "*.log\n", ".gitattributes": "mixed text\n"})
	r, err := repo.Open(t.Context(), git.Git{Bin: "git"}, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(dir), "w")
	gittest.Run(t, dir, "worktree", "add", "-q", "-b", "w", path)
	gittest.Write(t, gittest.Run(t, path, "rev-parse", "--absolute-git-dir"), "swarm-worker", "id\n")
	gittest.Write(t, path, "file", "staged\n")
	gittest.Run(t, path, "add", "file")
	gittest.Write(t, path, "file", "two\n")
	gittest.Write(t, path, "mixed", "c\r\nd\n")
	gittest.Write(t, path, "deep/new", "new\n")
	gittest.Write(t, path, "a.log", "log\n")
	if err := os.Chmod(filepath.Join(path, "a.log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(path, "gone")); err != nil {
		t.Fatal(err)
	}
	ref := swarm.WorkspaceRef{ID: "id", Name: "w", Path: path, Branch: "w", Base: dir}
	tree, kept, err := inspect.Worktree(t.Context(), r, ref, swarm.RemoveOptions{Force: true}, time.Minute)
	if err != nil || kept != nil {
		t.Fatalf("kept: %+v, %v", kept, err)
	}
	return tree
}

// contents describes the files of a worktree that are not in git's directory.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"file", "mixed", "gone", "deep/new", "a.log"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		info, _ := os.Lstat(filepath.Join(dir, name))
		b.WriteString(name + ":" + string(text))
		if err == nil {
			b.WriteString(info.Mode().String())
		}
		b.WriteString("\n")
	}
	b.WriteString(gittest.Run(t, dir, "ls-files", "--stage"))
	return b.String()
}

// TestSaveAndRestore: what was saved comes back byte for byte, with its index, permissions and branch.
func TestSaveAndRestore(t *testing.T) {
	t.Parallel()
	tree := changed(t)
	r, want := tree.Repo, contents(t, tree.Ref.Path)
	saved, err := Save(t.Context(), tree)
	if err != nil || len(saved.List) != 1 {
		t.Fatalf("Save: %+v, %v, want one rescue", saved, err)
	}
	gittest.Run(t, r.Main, "worktree", "remove", "--force", tree.Ref.Path)
	works, err := List(t.Context(), r, Prefix)
	if err != nil || len(works) != 1 || works[0].Name != "w" || works[0].Ref != saved.List[0].Ref || works[0].Title != "working tree" {
		t.Fatalf("List: %+v, %v", works, err)
	}
	c, err := Open(t.Context(), r, works[0].Ref)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Contents(t.Context(), r, c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	if got, want := strings.Join(names, " "), "a.log deep/new file gone mixed"; got != want {
		t.Errorf("it has the files %q, want %q", got, want)
	}
	into := tree.Ref.Path + "-again"
	if err := os.Mkdir(into, 0o700); err != nil {
		t.Fatal(err)
	}
	if note, err := c.Restore(t.Context(), r, into, &repo.Undo{}); err != nil || note != "" {
		t.Fatalf("Restore: %q, %v", note, err)
	}
	if got := contents(t, into); got != want {
		t.Errorf("it came back as\n%s\nwant\n%s", got, want)
	}
	if got := gittest.Run(t, into, "symbolic-ref", "HEAD"); got != "refs/heads/w" {
		t.Errorf("HEAD is %s", got)
	}
}

// TestRestoreDetached: a branch that has moved stays where it is.
func TestRestoreDetached(t *testing.T) {
	t.Parallel()
	tree := changed(t)
	r := tree.Repo
	saved, err := Save(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, r.Main, "worktree", "remove", "--force", tree.Ref.Path)
	gittest.Run(t, r.Main, "commit", "-q", "--allow-empty", "-m", "more")
	gittest.Run(t, r.Main, "branch", "-f", "w", "HEAD")
	c, err := Open(t.Context(), r, saved.List[0].Ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tree.Ref.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	note, err := c.Restore(t.Context(), r, tree.Ref.Path, &repo.Undo{})
	if err != nil || !strings.Contains(note, "branch 'w' has moved since then") {
		t.Errorf("Restore: %q, %v", note, err)
	}
}

// TestSaveCompares: a rescue that does not hold a file as it is in the worktree leaves no reference.
func TestSaveCompares(t *testing.T) {
	t.Parallel()
	tree := changed(t)
	g := tree.Git
	g.Before = func(args []string) {
		if args[0] == "cat-file" { // it is saved, and about to be compared
			_ = os.WriteFile(filepath.Join(tree.Ref.Path, "deep", "new"), []byte("late\n"), 0o600)
		}
	}
	tree.Git = g
	if _, err := Save(t.Context(), tree); err == nil || !strings.Contains(err.Error(), "the saved work does not hold 'deep/new'") {
		t.Errorf("Save: %v", err)
	}
	if works, err := List(t.Context(), tree.Repo, Prefix); err != nil || len(works) != 0 {
		t.Errorf("references stay: %+v, %v", works, err)
	}
}

// TestRefName: each name of a worker is a part of a reference.
func TestRefName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"w", "a.b", "a..b", "a.", "a.lock"} {
		if got := gittest.Run(t, "/", "check-ref-format", "--normalize", Prefix+refName(name)+"/1"); got != Prefix+refName(name)+"/1" {
			t.Errorf("refName(%q) = %q", name, refName(name))
		}
	}
	if got := refName("a.b"); got != "a.b" {
		t.Errorf("refName changes %q", got)
	}
}
