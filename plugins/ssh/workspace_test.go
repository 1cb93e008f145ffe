//go:build ssh

package ssh_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/plugins/ssh/sshtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// repository makes a repository with one commit and returns its directory.
func repository(t workspacetest.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	git(t, "", "init", "-q", "-b", "main", dir)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func git(t workspacetest.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// onHost fills in the host that a swarm host knows from its list of repositories.
type onHost struct{ *ssh.Backend }

func (o onHost) Rescue(ctx context.Context, req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	req.Host = shared.Servers[0].Name
	return o.Backend.Rescue(ctx, req)
}

// TestWorkspaces runs the kit for workspace plugins with repositories on the host.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	workspacetest.Run(t, workspacetest.Workspace{
		New:  func(t workspacetest.T) swarm.Workspace { return onHost{open(t, settings(shared))} },
		Base: repository,
	})
}

func workspaceSpec(base string) swarm.WorkspaceSpec {
	id, name := harness.NewID()
	return swarm.WorkspaceSpec{ID: id, Name: name, Base: base}
}

// TestCutInCreate breaks the connection at several moments: there is one worktree, or none.
func TestCutInCreate(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	base := repository(t)
	s.spawn("true") // the programs are there
	for i := range 8 {
		spec := workspaceSpec(base)
		var ref swarm.WorkspaceRef
		var err error
		done := make(chan struct{})
		go func() { defer close(done); ref, err = s.backend.Create(t.Context(), spec) }()
		time.Sleep(time.Duration(i*i*2) * time.Millisecond)
		s.server.Cut()
		<-done
		if err != nil {
			if !errors.Is(err, swarm.ErrUnavailable) {
				t.Errorf("Create: %v", err)
			}
			if _, ferr := s.backend.FindWorkspace(t.Context(), spec); !errors.Is(ferr, swarm.ErrNotFound) {
				t.Errorf("Create failed (%v), and FindWorkspace: %v", err, ferr)
			}
			continue
		}
		if n := strings.Count(git(t, base, "worktree", "list"), "["+spec.Name+"]"); n != 1 || ref.Host != s.server.Name {
			t.Errorf("%d worktrees, reference %+v", n, ref)
		}
	}
}

// TestCutInRemove breaks the connection while a worktree with work is removed: the caller learns
// where the work is.
func TestCutInRemove(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	base := repository(t)
	for i := range 4 {
		ref, err := s.backend.Create(t.Context(), workspaceSpec(base))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ref.Path, "new.txt"), []byte("work\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var res swarm.RemoveResult
		done := make(chan struct{})
		go func() {
			defer close(done)
			res, err = s.backend.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true})
		}()
		time.Sleep(time.Duration(i*60) * time.Millisecond)
		s.server.Cut()
		<-done
		if err != nil || res.Kept != nil || len(res.Rescues) == 0 {
			t.Errorf("%+v, %v", res, err)
		}
		if _, err := os.Lstat(ref.Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", ref.Path, err)
		}
	}
}

// TestCutInRemoveAfterOthers breaks the connection while a worktree without work is removed: the
// work of an earlier worker of its name is not reported as its.
func TestCutInRemoveAfterOthers(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	base := repository(t)
	earlier := workspaceSpec(base)
	ref, err := s.backend.Create(t.Context(), earlier)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ref.Path, "new.txt"), []byte("work\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, err := s.backend.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); err != nil || len(res.Rescues) == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	for i := range 4 {
		spec := workspaceSpec(base)
		spec.Name = earlier.Name
		ref, err := s.backend.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		var res swarm.RemoveResult
		done := make(chan struct{})
		go func() {
			defer close(done)
			res, err = s.backend.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true})
		}()
		time.Sleep(time.Duration(i*40) * time.Millisecond)
		s.server.Cut()
		<-done
		if err != nil || res.Kept != nil || len(res.Rescues) > 0 {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// TestWorkspaceOfAnotherMachine asks a machine for a worktree that was made on another one.
func TestWorkspaceOfAnotherMachine(t *testing.T) {
	t.Parallel()
	set := sshtest.Start(t, "one", "other")
	b := open(t, settings(set))
	ref, err := b.Create(t.Context(), workspaceSpec(repository(t)))
	if err != nil {
		t.Fatal(err)
	}
	ref.Host = "other"
	if res, err := b.Remove(t.Context(), ref, swarm.RemoveOptions{}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := os.Lstat(filepath.Join(ref.Path, "a.txt")); err != nil {
		t.Error(err)
	}
	ref.Host = "-oProxyCommand=true"
	if _, err := b.Inspect(t.Context(), ref, swarm.RemoveOptions{}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("Inspect: %v", err)
	}
}
