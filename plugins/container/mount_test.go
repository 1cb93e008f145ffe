package container

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/moby/moby/api/types/mount"
)

// TestMountOfGitFile checks that a worker can't exchange the .git of its worktree, and that
// nothing else is mounted in its place: a link would have the engine mount where it leads.
func TestMountOfGitFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make  func(path string) error
		named bool
		want  bool
	}{
		"file":              {func(path string) error { return os.WriteFile(path, []byte("gitdir: x\n"), 0o600) }, false, true},
		"link":              {func(path string) error { return os.Symlink("/etc/passwd", path) }, false, false},
		"directory":         {func(path string) error { return os.Mkdir(path, 0o700) }, false, false},
		"none":              {func(string) error { return nil }, false, false},
		"named by the user": {func(path string) error { return os.WriteFile(path, nil, 0o600) }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workspace := t.TempDir()
			dotGit := filepath.Join(workspace, ".git")
			if err := c.make(dotGit); err != nil {
				t.Fatal(err)
			}
			config := Config{}
			if c.named {
				config.Mounts = []string{"/etc/passwd:" + dotGit}
			}
			all, err := config.mounts(workspace)
			if err != nil {
				t.Fatal(err)
			}
			want := mount.Mount{Type: mount.TypeBind, Source: dotGit, Target: dotGit, ReadOnly: true}
			if got := slices.Contains(all, want); got != c.want {
				t.Errorf("%+v, want it: %v", all, c.want)
			}
			if all[0].Target != workspace {
				t.Errorf("the workspace is not the first: %+v", all)
			}
		})
	}
}
