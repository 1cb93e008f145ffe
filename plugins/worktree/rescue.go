package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/plugins/worktree/rescue"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (w *Workspace) Rescue(ctx context.Context, req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	switch {
	case !filepath.IsAbs(req.Base) || req.Into != "" && !filepath.IsAbs(req.Into):
		return nil, repo.Invalid("a rescue needs absolute paths")
	case req.Ref == "" && req.Action != swarm.RescueList:
		return nil, repo.Invalid("no saved work is named")
	}
	r, err := repo.Open(ctx, w.git, req.Base, true)
	if err != nil {
		return nil, err
	}
	if req.Ref == "" {
		return rescue.List(ctx, r, rescue.Prefix)
	}
	if !strings.HasPrefix(req.Ref, rescue.Prefix) {
		return nil, fmt.Errorf("saved work '%s': %w", req.Ref, swarm.ErrNotFound)
	}
	unlock, err := r.Lock(ctx, w.lockLimit)
	if err != nil {
		return nil, err
	}
	defer unlock()
	works, err := rescue.List(ctx, r, req.Ref)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(works, func(s swarm.SavedWork) bool { return s.Ref == req.Ref })
	if at < 0 {
		return nil, fmt.Errorf("saved work '%s': %w", req.Ref, swarm.ErrNotFound)
	}
	work := works[at]
	c, err := rescue.Open(ctx, r, work.Ref)
	if err != nil {
		return nil, err
	}
	if work.Files, err = rescue.Contents(ctx, r, c); err != nil {
		return nil, err
	}
	switch req.Action {
	case swarm.RescueList:
	case swarm.RescueDrop:
		err = r.DeleteRef(ctx, work.Ref, c.Hash)
	case swarm.RescueRestore:
		err = w.restore(ctx, r, c, &work, req.Into)
	default:
		err = fmt.Errorf("%w: action '%s' on saved work", swarm.ErrUnsupported, req.Action)
	}
	return []swarm.SavedWork{work}, err
}

// restore makes a worktree of a rescue. It is the user's: no worker is its owner.
func (w *Workspace) restore(ctx context.Context, r *repo.Repo, c rescue.Saved, work *swarm.SavedWork, into string) (err error) {
	var done repo.Undo
	defer func() { err = done.After(ctx, err) }()
	path, err := w.dirFor(ctx, r, work.Name, into, &done)
	if err != nil {
		return err
	}
	if work.Note, err = c.Restore(ctx, r, path, &done); err != nil {
		return err
	}
	work.Path = path
	return nil
}

func (w *Workspace) dirFor(ctx context.Context, r *repo.Repo, name, into string, done *repo.Undo) (string, error) {
	if into == "" {
		path, _, err := w.makeDir(ctx, r, swarm.WorkspaceSpec{Name: name, Base: r.Main}, done)
		return path, err
	}
	path := filepath.Clean(into)
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", repo.Invalid("cannot restore into %s: %w", path, err)
	}
	path = filepath.Join(parent, filepath.Base(path))
	if err := free(path); err != nil {
		return "", err
	}
	_, err = done.MkdirAll(path, 0o700)
	return path, err
}
