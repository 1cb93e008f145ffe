package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/occupant"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ignoredLimit is how many bytes of ignored files outside of ignored directories are
// rescued without Force.
const ignoredLimit = 10 << 20

// checks are what can keep a worktree, in the order in which they are reported:
// first what no flag overrides.
var checks = []func(*tree, context.Context) (*swarm.Kept, error){
	(*tree).lock,
	(*tree).operation,
	(*tree).inhabitants,
	(*tree).readIndex,
	(*tree).submoduleWork,
	(*tree).repositories,
	(*tree).removable,
	(*tree).changes,
	(*tree).hiddenChanges,
	(*tree).largeIgnored,
}

// inspectTree finds the worktree and runs the checks. A check that fails keeps the
// worktree. With neither an error nor a reason the tree can be removed.
func inspectTree(ctx context.Context, r *repo, ref swarm.WorkspaceRef, opts swarm.RemoveOptions, submoduleLimit time.Duration) (*tree, *swarm.Kept, error) {
	t, kept, err := r.find(ctx, ref)
	if err == nil && kept == nil && !t.missing {
		t.vacant, t.submoduleLimit = opts.Vacant, submoduleLimit
		for _, check := range checks {
			if kept, err = check(t, ctx); err != nil || kept != nil && (!kept.Forceable || !opts.Force) {
				break
			}
			kept = nil
		}
	}
	if err != nil || ctx.Err() != nil {
		kept, err = failed(ctx, err, "it cannot be inspected")
	}
	return t, kept, err
}

// lastLook repeats the cheap checks right before the removal, and compares everything else
// with the results of the first checks. Files come last: a process may write and end.
func (t *tree) lastLook(ctx context.Context) (*swarm.Kept, error) {
	kept, err := t.inhabitants(ctx)
	if err == nil && kept == nil {
		var now snapshot
		if now, err = take(t); err == nil && now.sum != t.snapshot.sum {
			kept = keep("something in it changed while it was being removed")
		}
	}
	if err != nil || ctx.Err() != nil {
		return failed(ctx, err, "it cannot be inspected")
	}
	return kept, nil
}

func (t *tree) lock(context.Context) (*swarm.Kept, error) {
	switch {
	case t.locked == nil:
		return nil, nil
	case *t.locked == "":
		return keep("worktree is locked"), nil
	}
	return keep("worktree is locked: %s", *t.locked), nil
}

// inhabitants reports processes that live in the worktree.
func (t *tree) inhabitants(ctx context.Context) (*swarm.Kept, error) {
	if t.vacant {
		return nil, nil
	}
	ps, err := occupant.In(ctx, t.ref.Path)
	if err != nil || len(ps) == 0 {
		return nil, err
	}
	var names []string
	for _, p := range ps {
		names = append(names, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", more))
	}
	return keep("in use by %s", strings.Join(names, ", ")), nil
}

// repositories reports other repositories in the worktree: git shows those that
// are untracked, but not those in ignored directories.
func (t *tree) repositories(context.Context) (*swarm.Kept, error) {
	for _, r := range t.snapshot.repositories {
		if !slices.Contains(t.own, r) {
			return keep("it contains another git repository: %s", quote(filepath.Dir(r))), nil
		}
	}
	return nil, nil
}

// removable reports what git could not remove: it would stop halfway.
func (t *tree) removable(context.Context) (*swarm.Kept, error) {
	fixed := t.snapshot.fixed
	if parent := filepath.Dir(t.ref.Path); !writable(parent) {
		fixed = append(fixed, parent)
	}
	if len(fixed) == 0 {
		return nil, nil
	}
	return keep("no permission to remove the contents of %s", quote(fixed[0])), nil
}

func (t *tree) changes(ctx context.Context) (*swarm.Kept, error) {
	s, err := readStatus(ctx, t.git)
	if err != nil {
		return nil, err
	}
	t.untracked, t.ignored, t.ignoredDirs = s.untracked, s.ignored, s.ignoredDirs
	t.listed()
	lines := s.lines + t.hidden
	t.dirty = lines > 0
	if len(t.snapshot.devices) > 0 {
		return keep("it contains a device, which cannot be saved: %s", quote(t.snapshot.devices[0])), nil
	}
	for _, path := range s.untracked {
		if strings.HasSuffix(path, "/") {
			return keep("it contains another git repository: %s", quote(path)), nil
		}
	}
	for _, path := range slices.Concat(t.untracked, t.ignored) {
		// Of a link git reads only the link.
		err := unix.Faccessat(unix.AT_FDCWD, filepath.Join(t.ref.Path, path), unix.R_OK, unix.AT_SYMLINK_NOFOLLOW)
		if errors.Is(err, unix.EACCES) {
			return keep("no permission to read %s, which is not committed", quote(path)), nil
		}
	}
	if lines == 0 {
		return nil, nil
	}
	return forceable("worktree has %d uncommitted change(s)", lines), nil
}

// hiddenChanges reports changes of files that git was told to ignore in its index.
func (t *tree) hiddenChanges(ctx context.Context) (*swarm.Kept, error) {
	if !slices.ContainsFunc(t.index, indexEntry.hidden) {
		return nil, nil
	}
	n := 0
	err := t.withIndex(ctx, func(g git, _ string) error {
		changed, deleted, err := t.unhide(ctx, g)
		for _, path := range slices.Concat(changed, deleted) {
			if slices.ContainsFunc(t.index, func(e indexEntry) bool { return e.path == path && e.hidden() }) {
				n++
			}
		}
		return err
	})
	if err != nil || n == 0 {
		return nil, err
	}
	t.dirty = true
	return forceable("worktree has %d change(s) in files marked assume-unchanged or skip-worktree", n), nil
}

// largeIgnored reports more ignored files than are saved without asking.
func (t *tree) largeIgnored(context.Context) (*swarm.Kept, error) {
	var size int64
	for _, path := range t.ignored {
		info, err := os.Lstat(filepath.Join(t.ref.Path, path))
		if err != nil {
			return nil, err
		}
		size += info.Size()
	}
	if size <= ignoredLimit {
		return nil, nil
	}
	return forceable("worktree has %d MiB of ignored files outside of ignored directories", (size+1<<20-1)>>20), nil
}

// forceable says why a worktree stays unless the user forces its removal.
func forceable(format string, args ...any) *swarm.Kept {
	k := keep(format, args...)
	k.Forceable = true
	return k
}
