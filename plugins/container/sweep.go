package container

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Sweep removes the containers of workers whose run directories the host has removed. The
// containers of other ended workers hold their output and their exits.
func (b *Backend) Sweep(ctx context.Context, ended, _ []swarm.Handle) ([]string, error) {
	type place struct{ socket, workers, state string }
	seen := make(map[place]bool)
	for _, h := range ended {
		r, err := b.ref(ctx, h)
		if err != nil {
			continue
		}
		at := place{r.Socket, filepath.Dir(r.Dir), r.State}
		if seen[at] {
			continue
		}
		seen[at] = true
		e, err := b.at(at.socket)
		if err != nil {
			return nil, err
		}
		if err := e.sweep(ctx, at.workers, at.state); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// sweep removes the containers of workers whose run directories were in a directory that
// is still there, of the state directory with that id. That directory may have been moved since
// they were started, or be reached by another path. A copy of it has the same id, and leaves the
// containers alone while the original exists.
func (e *engine) sweep(ctx context.Context, workers, state string) error {
	if info, err := os.Lstat(workers); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // nothing can be notified of its workers then
	}
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", labelRun)})
	if err != nil {
		return e.explain(ctx, "list the containers", err)
	}
	for _, c := range list.Items {
		dir := c.Labels[labelRun]
		if !wasIn(filepath.Dir(dir), workers, state) || c.Labels[labelID] != state || c.State == "running" || c.State == "paused" || c.State == "restarting" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(workers, filepath.Base(dir))); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := e.remove(ctx, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// wasIn reports whether a directory from the past is the one that is at workers now, which has
// the id state; empty: none.
func wasIn(past, workers, state string) bool {
	before, err := os.Stat(past)
	if errors.Is(err, fs.ErrNotExist) {
		return past == workers || state != ""
	}
	now, nerr := os.Stat(workers)
	return err == nil && nerr == nil && os.SameFile(before, now)
}
