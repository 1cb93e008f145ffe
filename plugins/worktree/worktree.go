package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Version is the plugin's version.
const Version = "0.1.0"

// Config is the plugin's table in the user's configuration.
type Config struct {
	// Git is the git program. Empty: git in PATH.
	Git string `json:"git"`
}

// Workspace makes and removes worktrees. It holds no state.
type Workspace struct {
	git git
	log hclog.Logger
	// lockLimit and submoduleLimit are shorter in tests.
	lockLimit, submoduleLimit time.Duration
	// beforeRemoval is called between the inspection and the last look, by tests.
	beforeRemoval func()
}

var (
	_ swarm.Workspace        = (*Workspace)(nil)
	_ swarm.WorkspaceFinder  = (*Workspace)(nil)
	_ swarm.Rescuer          = (*Workspace)(nil)
	_ swarm.Differ           = (*Workspace)(nil)
	_ swarm.Checker          = (*Workspace)(nil)
	_ swarm.Reporter         = (*Workspace)(nil)
	_ swarm.WorkspaceChecker = (*Workspace)(nil)
)

// New returns a workspace plugin.
func New(cfg Config, log hclog.Logger) *Workspace {
	bin := cmp.Or(cfg.Git, "git")
	return &Workspace{git: git{bin: bin}, log: log, lockLimit: lockLimit, submoduleLimit: submoduleLimit}
}

// The oldest git that lists worktrees with -z.
const oldestMajor, oldestMinor = 2, 36

// Check implements [swarm.Checker].
func (w *Workspace) Check(ctx context.Context) error {
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if errA != nil || errB != nil || a < oldestMajor || a == oldestMajor && b < oldestMinor {
		return fmt.Errorf("%w: git %s is too old, %d.%d or newer is needed", swarm.ErrUnavailable, version, oldestMajor, oldestMinor)
	}
	return nil
}

// Report implements [swarm.Reporter].
func (w *Workspace) Report(ctx context.Context) (string, error) {
	version, err := w.version(ctx)
	return "git " + version, err
}

func (w *Workspace) version(ctx context.Context) (string, error) {
	out, err := w.git.at("/").run(ctx, "version")
	if err != nil && !errors.Is(err, swarm.ErrUnavailable) {
		err = fmt.Errorf("%w: git does not run: %w", swarm.ErrUnavailable, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(out), "git version "), err
}

// FindWorkspace implements [swarm.WorkspaceFinder].
func (w *Workspace) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	r, err := openRepo(ctx, w.git, spec.Base, false)
	if errors.Is(err, swarm.ErrInvalidSpec) {
		return swarm.WorkspaceRef{}, fmt.Errorf("worktree of '%s': %w: %w", spec.Name, swarm.ErrNotFound, err)
	}
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	// A Create of the same worker may still be running in a plugin that lost its host.
	unlock, err := r.lock(ctx, w.lockLimit)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()
	all, err := admins(r.common)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	for _, a := range all {
		if spec.ID == "" || a.id != spec.ID {
			continue
		}
		ref := swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: a.worktree, Branch: branchOf(spec), Base: r.main, Dir: r.dir}
		if a.made {
			return ref, nil
		}
		// Create was killed before its end. No caller got this worktree, so it should hold
		// nothing of value; if it does, that is rescued as usual.
		if res, err := w.removeLocked(ctx, r, ref, swarm.RemoveOptions{Force: true, Undo: true}); err != nil || res.Kept != nil {
			return ref, err
		}
	}
	return swarm.WorkspaceRef{}, fmt.Errorf("worktree of '%s': %w", spec.Name, swarm.ErrNotFound)
}
