package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestOpenRepo opens a repository from where a user may stand, also where paths have line
// breaks. Its main working tree is found, with one call of rev-parse where that is enough.
func TestOpenRepo(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"plain": "repo", "line break": "re\npo", "at the end": "repo\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			repo := filepath.Join(f.top, dir)
			f.must(os.Rename(f.repo, repo))
			linked := filepath.Join(f.top, dir+"-linked")
			f.git(repo, "worktree", "add", "-q", "-b", "linked", linked)
			bare := filepath.Join(f.top, dir+".git")
			f.git(f.top, "clone", "-q", "--bare", repo, bare)
			for _, c := range []struct {
				from, main, common string
				asked              int
			}{
				{repo, repo, filepath.Join(repo, ".git"), 1},
				{filepath.Join(repo, "dir"), repo, filepath.Join(repo, ".git"), 1},
				{linked, repo, filepath.Join(repo, ".git"), 2},
				{bare, bare, bare, 2},
			} {
				var asked int
				g := newWorkspace().git
				g.before = func(args []string) {
					if slices.Contains(args, "rev-parse") {
						asked++
					}
				}
				r, err := openRepo(t.Context(), g, c.from, true)
				if err != nil {
					t.Errorf("from %q: %v", c.from, err)
					continue
				}
				if r.main != c.main || r.common != c.common {
					t.Errorf("from %q: main %q, common %q; want %q, %q", c.from, r.main, r.common, c.main, c.common)
				}
				if name == "plain" && asked != c.asked {
					t.Errorf("from %q: %d calls of rev-parse, want %d", c.from, asked, c.asked)
				}
			}
		})
	}
}
