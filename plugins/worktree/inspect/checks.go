package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/occupant"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ignoredLimit is how many bytes of ignored files outside of ignored directories are
// rescued without Force.
const ignoredLimit = 10 << 20

// checks are what can keep a worktree, in the order in which they are reported:
// first what no flag overrides.
var checks = []func(*Tree, context.Context) (*swarm.Kept, error){
	(*Tree).lock,
	(*Tree).Operation,
	(*Tree).inhabitants,
	(*Tree).ReadIndex,
	(*Tree).submoduleWork,
	(*Tree).repositories,
	(*Tree).removable,
	(*Tree).changes,
	(*Tree).hiddenChanges,
	(*Tree).largeIgnored,
}

// Worktree finds the worktree and runs the checks. A check that fails keeps the
// worktree. With neither an error nor a reason the tree can be removed.
func Worktree(ctx context.Context, r *repo.Repo, ref swarm.WorkspaceRef, opts swarm.RemoveOptions, submoduleLimit time.Duration) (*Tree, *swarm.Kept, error) {
	t, kept, err := Find(ctx, r, ref)
	if err == nil && kept == nil && !t.Missing {
		t.vacant, t.submoduleLimit = opts.Vacant, submoduleLimit
		for _, check := range checks {
			if kept, err = check(t, ctx); err != nil || kept != nil && (!kept.Forceable || !opts.Force) {
				break
			}
			kept = nil
		}
	}
	if err != nil || ctx.Err() != nil {
		kept, err = Failed(ctx, err, "it cannot be inspected")
	}
	return t, kept, err
}

// LastLook repeats the cheap checks right before the removal, and compares everything else
// with the results of the first checks. Files come last: a process may write and end.
func (t *Tree) LastLook(ctx context.Context) (*swarm.Kept, error) {
	kept, err := t.inhabitants(ctx)
	if err == nil && kept == nil {
		var now snapshot
		if now, err = take(t); err == nil && now.sum != t.snapshot.sum {
			kept = keep("something in it changed while it was being removed")
		}
	}
	if err != nil || ctx.Err() != nil {
		return Failed(ctx, err, "it cannot be inspected")
	}
	return kept, nil
}

// lock reports the lock that a user has put on it.
func (t *Tree) lock(context.Context) (*swarm.Kept, error) {
	switch {
	case t.Locked == nil:
		return nil, nil
	case *t.Locked == "":
		return keep("worktree is locked"), nil
	}
	return keep("worktree is locked: %s", *t.Locked), nil
}

// operations are the files in an administrative directory that show an unfinished
// operation, see gitrepository-layout(5) and git-status's wt-status.c.
var operations = []struct{ file, name string }{
	{"rebase-apply/applying", "git am"},
	{"rebase-apply", "a rebase"},
	{"rebase-merge", "a rebase"},
	{"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
	{"sequencer", "a cherry-pick or revert"},
	{"BISECT_LOG", "a bisect"},
	{"NOTES_MERGE_PARTIAL", "a merge of notes"},
	{"index.lock", "a git command"},
	{"HEAD.lock", "a git command"},
}

// Operation reports an unfinished operation of git.
func (t *Tree) Operation(context.Context) (*swarm.Kept, error) {
	return operationIn(t.Admin.Dir, "%s is in progress")
}

func operationIn(gitDir, format string) (*swarm.Kept, error) {
	for _, o := range operations {
		_, err := os.Lstat(filepath.Join(gitDir, o.file))
		if err == nil {
			return keep(format, o.name), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, nil
}

// inhabitants reports processes that live in the worktree.
func (t *Tree) inhabitants(ctx context.Context) (*swarm.Kept, error) {
	if t.vacant {
		return nil, nil
	}
	ps, err := occupant.In(ctx, t.Ref.Path)
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
func (t *Tree) repositories(context.Context) (*swarm.Kept, error) {
	for _, r := range t.snapshot.repositories {
		if !slices.Contains(t.own, r) {
			return keep("it contains another git repository: %s", git.Quote(filepath.Dir(r))), nil
		}
	}
	return nil, nil
}

// removable reports what git could not remove: it would stop halfway.
func (t *Tree) removable(context.Context) (*swarm.Kept, error) {
	fixed := t.snapshot.fixed
	if parent := filepath.Dir(t.Ref.Path); !writable(parent) {
		fixed = append(fixed, parent)
	}
	if len(fixed) == 0 {
		return nil, nil
	}
	return keep("no permission to remove the contents of %s", git.Quote(fixed[0])), nil
}

func (t *Tree) changes(ctx context.Context) (*swarm.Kept, error) {
	s, err := t.Git.Status(ctx)
	if err != nil {
		return nil, err
	}
	t.Untracked, t.Ignored, t.ignoredDirs = s.Untracked, s.Ignored, s.IgnoredDirs
	t.listed()
	lines := s.Lines + t.hidden
	t.Dirty = lines > 0
	if len(t.snapshot.devices) > 0 {
		return keep("it contains a device, which cannot be saved: %s", git.Quote(t.snapshot.devices[0])), nil
	}
	for _, path := range s.Untracked {
		if strings.HasSuffix(path, "/") {
			return keep("it contains another git repository: %s", git.Quote(path)), nil
		}
	}
	for _, path := range slices.Concat(t.Untracked, t.Ignored) {
		// Git reads a link itself, not its target.
		err := unix.Faccessat(unix.AT_FDCWD, filepath.Join(t.Ref.Path, path), unix.R_OK, unix.AT_SYMLINK_NOFOLLOW)
		if errors.Is(err, unix.EACCES) {
			return keep("no permission to read %s, which is not committed", git.Quote(path)), nil
		}
	}
	if lines == 0 {
		return nil, nil
	}
	return forceable("worktree has %d uncommitted change(s)", lines), nil
}

// hiddenChanges reports changes of files that the index says to ignore.
func (t *Tree) hiddenChanges(ctx context.Context) (*swarm.Kept, error) {
	if !slices.ContainsFunc(t.Index, git.Entry.Hidden) {
		return nil, nil
	}
	n := 0
	err := t.WithIndex(ctx, func(g git.Git, _ string) error {
		changed, deleted, err := t.unhide(ctx, g)
		for _, path := range slices.Concat(changed, deleted) {
			if slices.ContainsFunc(t.Index, func(e git.Entry) bool { return e.Path == path && e.Hidden() }) {
				n++
			}
		}
		return err
	})
	if err != nil || n == 0 {
		return nil, err
	}
	t.Dirty = true
	return forceable("worktree has %d change(s) in files marked assume-unchanged or skip-worktree", n), nil
}

// largeIgnored reports more ignored files than are saved without asking.
func (t *Tree) largeIgnored(context.Context) (*swarm.Kept, error) {
	var size int64
	for _, path := range t.Ignored {
		info, err := os.Lstat(filepath.Join(t.Ref.Path, path))
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

// keep returns the reason why a worktree is kept whatever the user's flags. A file's name in
// it can't break the message.
func keep(format string, args ...any) *swarm.Kept {
	return &swarm.Kept{Reason: safetext.Line(fmt.Sprintf(format, args...))}
}

// Failed returns the reason for what failed to keep the worktree, or the error of the context
// if that has ended.
func Failed(ctx context.Context, err error, what string) (*swarm.Kept, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return keep("%s: %s", what, errtext.Without(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable)), nil
}
