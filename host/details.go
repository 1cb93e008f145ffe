package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// changesLimit is how long the comparison of a workspace may take.
const changesLimit = 2 * time.Second

// Details is everything that is known of one worker at one moment. Only Worker is always
// known.
type Details struct {
	Worker worker.Worker
	// Profile is the name of its profile; empty: none.
	Profile string
	// Figures are what it uses, or has used.
	Figures stats.Figures
	// Processes are its living processes on this machine, each before its children.
	Processes []proc.Process
	// Changes are how its workspace differs from its beginning; nil if that is not known.
	Changes *compare.Changes
	// RunDir is its run directory; empty if there is none on this machine.
	RunDir string
	// Log is nil if its backend keeps the output elsewhere.
	Log *statedir.Log
	// Events are the last ones of its name, the oldest first.
	Events []registry.Event
	// Lines are the last ones that it showed, on its screen if Screen is set. LinesErr is
	// why there are none.
	Lines    []string
	Screen   bool
	LinesErr error
}

// DetailsRequest says how much of a worker's past is wanted.
type DetailsRequest struct {
	// Events and Lines are how many of the last ones; 0: none.
	Events, Lines int
}

// Details returns everything that is known of a worker. Facts that can't be found out are
// left out; an unknown name is an [ErrNotFound].
func (h *Host) Details(ctx context.Context, name string, req DetailsRequest) (Details, []string, error) {
	workers, warnings, err := h.Workers(ctx, worker.Selection{Names: []string{name}, States: true})
	if err != nil {
		return Details{}, warnings, err
	}
	if len(workers) == 0 {
		return Details{}, warnings, &store.NotFoundError{Name: name}
	}
	d := Details{Worker: workers[0]}
	w := &d.Worker
	d.Profile = h.profileName(*w)
	d.Figures.Worker = *w
	var all sync.WaitGroup
	all.Go(func() {
		figures, _, err := h.Meter().Once(ctx, worker.Selection{Names: []string{w.ID}})
		if err == nil && len(figures) == 1 {
			d.Figures = figures[0]
		}
	})
	all.Go(func() {
		if c, ok := h.Workspaces().Changes(ctx, workers, changesLimit)[w.ID]; ok {
			d.Changes = &c
		}
	})
	if req.Lines > 0 {
		all.Go(func() {
			peek, err := h.Display().Peek(ctx, w.ID, req.Lines)
			d.Lines, d.Screen, d.LinesErr = peek.Lines, peek.Screen, err
		})
	}
	dir := h.RunDir(w.ID)
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		d.RunDir, d.Log = dir, statedir.ReadLog(dir)
		if !w.Gone() {
			d.Processes = client.Processes(dir, w.ID)
		}
	}
	all.Wait()
	warnings = append(warnings, d.unread()...)
	if req.Events > 0 {
		events, err := h.History().Events(ctx, registry.EventQuery{Worker: w.Name, Last: &req.Events})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return d, warnings, err
		}
		d.Events = events
	}
	return d, warnings, ctx.Err()
}

// unread returns a warning for each fact that a backend should know and could not be asked about. The
// reason why the status is unknown is not repeated.
func (d *Details) unread() (warnings []string) {
	for _, w := range []struct {
		what string
		err  error
	}{
		{"cannot measure '%s': %s", d.Figures.Err},
		{"cannot read the last lines of '%s': %s", d.LinesErr},
	} {
		switch {
		case w.err == nil, errors.Is(w.err, swarm.ErrUnsupported), errors.Is(w.err, swarm.ErrNotFound), d.Worker.Status == worker.StatusUnknown:
		default:
			warnings = append(warnings, fmt.Sprintf(w.what, d.Worker.Name, errtext.Line(w.err, swarm.ErrUnavailable)))
		}
	}
	return warnings
}

func (h *Host) profileName(w worker.Worker) string {
	if w.Profile != "" {
		return w.Profile
	}
	// A broken profile hides itself alone: the set has all others.
	profiles, _ := h.Profiles()
	if p := profiles.For(w.Command); p != nil {
		return p.Name()
	}
	return ""
}
