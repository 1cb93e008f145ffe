package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/diff"
	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

// lockLimit is how long a call waits for the lock: some checkouts and removals of
// large repositories, one after the other.
const lockLimit = 2 * time.Minute

// submoduleLimit is how long the examination of all submodules of a worktree may take. Their
// configuration may include a file that never ends.
const submoduleLimit = time.Minute

const Version = "0.1.0"

// Config is the plugin's table in the user's configuration.
type Config struct {
	Git string `json:"git" help:"The git program. Without it: git in PATH."`
}

// Workspace makes and removes worktrees. It holds no state.
type Workspace struct {
	git git.Git
	log *slog.Logger
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

func New(cfg Config, log *slog.Logger) *Workspace {
	bin := cmp.Or(cfg.Git, "git")
	return &Workspace{git: git.Git{Bin: bin}, log: log, lockLimit: lockLimit, submoduleLimit: submoduleLimit}
}

// The oldest git that lists worktrees with -z.
const oldestMajor, oldestMinor = 2, 36

func (w *Workspace) Check(ctx context.Context) error {
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 || major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return fmt.Errorf("%w: git %s is too old, %d.%d or newer is needed", swarm.ErrUnavailable, version, oldestMajor, oldestMinor)
	}
	return nil
}

func (w *Workspace) Report(ctx context.Context) (string, error) {
	version, err := w.version(ctx)
	return "git " + version, err
}

func (w *Workspace) version(ctx context.Context) (string, error) {
	out, err := w.git.At("/").Run(ctx, "version")
	if err != nil && !errors.Is(err, swarm.ErrUnavailable) {
		err = fmt.Errorf("%w: git does not run: %w", swarm.ErrUnavailable, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(out), "git version "), err
}

func (w *Workspace) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	r, err := repo.Open(ctx, w.git, spec.Base, false)
	if errors.Is(err, swarm.ErrInvalidSpec) {
		return swarm.WorkspaceRef{}, fmt.Errorf("worktree of '%s': %w: %w", spec.Name, swarm.ErrNotFound, err)
	}
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	// A Create of the same worker may still be running in a plugin that lost its host.
	unlock, err := r.Lock(ctx, w.lockLimit)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()
	all, err := repo.Admins(r.Common)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	for _, a := range all {
		if spec.ID == "" || a.ID != spec.ID {
			continue
		}
		ref := swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: a.Worktree, Branch: repo.BranchOf(spec), Base: r.Main, Dir: r.Dir}
		if a.Made {
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

func (w *Workspace) Diff(ctx context.Context, ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
	if err := checkHandle(ref); err != nil {
		return swarm.Diff{}, err
	}
	if o.Summary {
		return diff.Summary(ctx, w.git, ref)
	}
	r, unlock, kept, err := w.openBase(ctx, ref)
	var t *inspect.Tree
	if r != nil {
		defer unlock()
		if r.Git, err = r.Git.Disarmed(ctx); err == nil {
			t, kept, err = inspect.Find(ctx, r, ref)
		}
	}
	switch {
	case err != nil:
		return swarm.Diff{}, err
	case kept != nil:
		return swarm.Diff{}, fmt.Errorf("%w: %s", swarm.ErrUnavailable, kept.Reason)
	case t == nil || t.Missing:
		return swarm.Diff{}, fmt.Errorf("worktree %s: %w", ref.Path, swarm.ErrNotFound)
	}
	return diff.Compare(ctx, t, o.Colour)
}
