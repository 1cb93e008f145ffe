package worktree

import (
	"errors"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestBranchOfARemote checks that a branch is made where a remote has it, whatever the remote is
// called and wherever it keeps its branches, with its upstream.
func TestBranchOfARemote(t *testing.T) {
	t.Parallel()
	for remote, spec := range map[string]string{
		"origin":     "",
		"team/fork":  "",
		"elsewhere":  "+refs/heads/*:refs/remotes/of/others/*",
		"one branch": "+refs/heads/feature/x:refs/remotes/x",
	} {
		t.Run(remote, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			other := f.top + "/other"
			f.git(f.top, "clone", "-q", f.repo, other)
			f.git(other, "switch", "-q", "-c", "feature/x")
			want := f.commit(other, "tracked", "two\n")
			name := strings.ReplaceAll(remote, " ", "-")
			f.git(f.repo, "config", "remote."+name+".url", other)
			if spec == "" {
				spec = "+refs/heads/*:refs/remotes/" + name + "/*"
			}
			f.git(f.repo, "config", "remote."+name+".fetch", spec)
			f.git(f.repo, "fetch", "-q", name)
			ref := f.create(swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.repo, Branch: "feature/x"})
			if got := strings.TrimSpace(f.git(ref.Path, "rev-parse", "HEAD")); got != want {
				t.Errorf("HEAD is %s, want %s", got, want)
			}
			if got := f.git(f.repo, "config", "branch.feature/x.remote") + f.git(f.repo, "config", "branch.feature/x.merge"); got != name+"\nrefs/heads/feature/x\n" {
				t.Errorf("the upstream is %q", got)
			}
		})
	}
	f := newFixture(t)
	f.git(f.repo, "update-ref", "refs/remotes/gone/x", "HEAD")
	for _, branch := range []string{"gone/x"} {
		if _, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id", Name: "n", Base: f.repo, Branch: branch}); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("Create of %s: %v", branch, err)
		}
	}
}
