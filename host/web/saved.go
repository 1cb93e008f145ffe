package web

import (
	"context"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// rescuer knows the work that was saved from removed worktrees. A [saved.Keeper] is one.
type rescuer interface {
	List(ctx context.Context, also ...string) (works []swarm.SavedWork, warnings []string, err error)
}

// savedWork is work of a worker that was saved. Line is the command that brings it back.
type savedWork struct{ When, Title, Line string }

const (
	// savedLimit is how long the search for saved work may take.
	savedLimit = 10 * time.Second
	// maxSaved is how many pieces of saved work a page shows, the newest ones.
	maxSaved = 5
)

// savedOf returns the work of the worker with that name that was saved, the newest first. It
// asks each repository, which takes a moment.
func (s *Server) savedOf(ctx context.Context, name string) []savedWork {
	ctx, cancel := context.WithTimeout(ctx, savedLimit)
	defer cancel()
	works, _, err := s.rescuer.List(ctx)
	if err != nil {
		s.opts.Logger.Debug("cannot look for saved work", "worker", name, "error", err)
		return nil
	}
	var all []savedWork
	for _, w := range slices.Backward(works) {
		if w.Name != name || len(all) == maxSaved {
			continue
		}
		one := savedWork{Title: safetext.Line(w.Title), Line: safetext.Line("swarm " + humane.Command([]string{"rescue", "restore", saved.ID(w)}))}
		if !w.Time.IsZero() {
			one.When = w.Time.Local().Format("2 Jan 2006, 15:04:05")
		}
		all = append(all, one)
	}
	return all
}
