package worktree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// randomNames are parts of paths.
var randomNames = []string{
	"a", "b", "dir", "tracked", "other", "file", ".GIT", "git~1", ".git ", ".gitmodules", ".gitattributes", "x.log", ".env", "\xff", "new\nline",
	"\"q\"", "-f", "ü", ".g\u200cit", "x.txt", "y.nb", "build-not", "HEAD", "refs", "index", strings.Repeat("long", 40),
}

// TestRandomWork writes random files of random kinds, hides some from git, and checks that all of
// them come back, or that the worktree is unchanged.
func TestRandomWork(t *testing.T) {
	t.Parallel()
	seeds := uint64(16)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test has to be repeatable
			f := newFixture(t)
			f.git(f.repo, "config", "filter.gone.clean", "no-such-program")
			f.git(f.repo, "config", "filter.short.clean", "head -c 3")
			for _, setting := range []string{"core.ignoreCase", "core.protectNTFS", "core.protectHFS", "core.autocrlf", "core.precomposeUnicode"} {
				if r.IntN(4) == 0 {
					f.git(f.repo, "config", setting, fmt.Sprint(r.IntN(2) == 0))
				}
			}
			f.ref = f.create(swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
			wt := f.ref.Path
			var done []string
			for range 4 + r.IntN(24) {
				done = append(done, f.randomStep(r, wt))
			}
			before := f.manifest(wt, ".git")
			res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			if err != nil {
				t.Fatalf("%q: %v", done, err)
			}
			if res.Kept != nil {
				t.Logf("kept: %s", res.Kept.Reason)
				if diff := cmp.Diff(before, f.manifest(wt, ".git")); diff != "" {
					t.Errorf("%q: files (-before +after):\n%s", done, diff)
				}
				return
			}
			if len(res.Rescues) == 0 {
				t.Fatalf("%q: nothing was saved", done)
			}
			f.rescue(swarm.RescueRequest{Ref: res.Rescues[0].Ref, Action: swarm.RescueRestore})
			if diff := cmp.Diff(before, f.manifest(wt, ".git")); diff != "" {
				t.Errorf("%q (-before +after):\n%s", done, diff)
			}
		})
	}
}

// randomStep changes something, and says what.
func (f *fixture) randomStep(r *rand.Rand, wt string) string {
	f.Helper()
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = randomNames[r.IntN(len(randomNames))]
		if ignored := parts[i] == ".env" || parts[i] == "x.log"; ignored && i < len(parts)-1 {
			parts[i] = "dir" // the contents of an ignored directory are not saved
		}
	}
	rel := filepath.Join(parts...)
	path := filepath.Join(wt, rel)
	// A step that does not fit, such as a file below a file, does nothing.
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	content := strings.Repeat(fmt.Sprintf("line %d\r\nmore\n", r.IntN(9)), r.IntN(4))
	if filepath.Base(path) == ".gitattributes" {
		content = "*.txt text eol=crlf\n*.nb filter=short\n*.log filter=gone\nü working-tree-encoding=UTF-16\n"
	}
	tracked := []string{"tracked", "other", "dir/file", "run.sh", "link"}[r.IntN(5)]
	switch n := r.IntN(14); n {
	case 0:
		_ = os.Symlink(content+"x", path)
		return "link " + rel
	case 1:
		_ = unix.Mkfifo(path, 0o600)
		return "pipe " + rel
	case 2:
		_ = os.MkdirAll(path, 0o755)
		return "directory " + rel
	case 3:
		if tracked == "run.sh" {
			return "nothing" // a file that is skipped and absent is not missing
		}
		_ = os.RemoveAll(filepath.Join(wt, tracked))
		return "remove " + tracked
	case 4:
		_ = f.command(wt, "git", "update-index", "--assume-unchanged", tracked).Run()
		_ = os.WriteFile(filepath.Join(wt, tracked), []byte(content), 0o600)
		return "hide " + tracked
	case 5:
		_ = f.command(wt, "git", "update-index", "--skip-worktree", "run.sh").Run()
		return "skip run.sh"
	case 6:
		_ = f.command(wt, "git", "add", "--intent-to-add", "--", rel).Run()
		return "intend " + rel
	case 7:
		_ = f.command(wt, "git", "add", "--", rel).Run()
		return "add " + rel
	case 8:
		_ = f.command(wt, "git", "rm", "-q", "--cached", "--", tracked).Run()
		return "forget " + tracked
	case 9:
		_ = os.Chmod(filepath.Join(wt, tracked), 0o755) //nolint:gosec // as programs have it
		return "mode of " + tracked
	default:
		_ = os.WriteFile(path, []byte(content), 0o600|os.FileMode(n&1)*0o111)
		return "write " + rel
	}
}
