package host

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// TakeNews returns one line that tells the agent of a worker what is waiting for it and how
// to get it, and records that this was brought to it by how. It returns "" if nothing is
// waiting that was not brought before, or if the worker is not a member of a team. The
// agent of a worker is its agent, the leader of a team, or both.
//
// The line has counts and fixed words, and nothing that another member wrote. Of several
// callers at once one gets it. Whoever gets it must show it: nobody else will.
//
// TakeNews opens no plugin, and writes nothing where nothing is waiting.
func (h *Host) TakeNews(ctx context.Context, workerID string, how registry.Brought) (line string, err error) {
	var news []team.News
	find := func(ctx context.Context, tx *registry.Tx) (err error) {
		news, err = team.Waiting(ctx, tx, workerID)
		return err
	}
	err = h.View(ctx, find)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil || len(news) == 0 {
		return "", err
	}
	err = h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if err := find(ctx, tx); err != nil {
			return err
		}
		return bring(ctx, tx, news, how)
	})
	if err != nil {
		return "", err
	}
	return team.Line(news), nil
}

// bring records that news were brought.
func bring(ctx context.Context, tx *registry.Tx, news []team.News, how registry.Brought) error {
	for _, n := range news {
		if err := tx.Bring(ctx, n.Membership, how, time.Now()); err != nil {
			return err
		}
	}
	return nil
}
