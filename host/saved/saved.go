package saved

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// askLimit is how long a plugin may take for one repository.
const askLimit = 5 * time.Minute

// Options say what a [Keeper] needs.
type Options struct {
	Dir     statedir.Dir
	Plugins *backend.Plugins
	// Find returns the records of the selected workers.
	Find func(context.Context, worker.Selection) ([]registry.Record, []string, error)
}

// Keeper finds saved work. Its methods may be called at the same time.
type Keeper struct{ opts Options }

// New returns a keeper of saved work.
func New(o Options) *Keeper { return &Keeper{o} }

// ErrAmbiguous says that a name means more than one piece of saved work.
var ErrAmbiguous = errors.New("ambiguous")

// List returns all saved work, the oldest first: of the repositories of all workers, of
// those from which work was ever saved, and of those that the directories in also are in.
// A repository that can't be asked is named in warnings.
func (k *Keeper) List(ctx context.Context, also ...string) (works []swarm.SavedWork, warnings []string, err error) {
	bases, err := k.bases(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i, base := range slices.Concat(bases, also) {
		if _, err := os.Stat(base); errors.Is(err, fs.ErrNotExist) {
			continue // its work is gone with it
		}
		found, err := k.ask(ctx, swarm.RescueRequest{Base: base})
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, swarm.ErrInvalidSpec) && i >= len(bases):
			// The caller's directory need not be in a repository.
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("cannot look for saved work in %s: %s", base, worker.Wording(err)))
		}
		for _, w := range found {
			if !slices.ContainsFunc(works, func(o swarm.SavedWork) bool { return o.Base == w.Base && o.Ref == w.Ref }) {
				works = append(works, w)
			}
		}
	}
	slices.SortStableFunc(works, func(a, b swarm.SavedWork) int { return a.Time.Compare(b.Time) })
	return works, warnings, nil
}

// bases returns the repositories that are known.
func (k *Keeper) bases(ctx context.Context) ([]string, error) {
	bases := k.opts.Dir.RescueBases()
	recs, _, err := k.opts.Find(ctx, worker.Selection{All: true})
	if err != nil {
		return nil, err
	}
	for _, r := range recs {
		switch {
		case r.Workspace != nil:
			bases = append(bases, r.Workspace.Base)
		case r.Ask != nil:
			bases = append(bases, r.Ask.Base)
		}
	}
	slices.Sort(bases)
	return slices.Compact(bases), nil
}

// Find returns the saved work that a name means: the name of a worker, of which it is the
// newest, a worker's name with the time, or the whole ref. With one set, the name of a
// worker with several pieces of saved work is [ErrAmbiguous].
func (k *Keeper) Find(ctx context.Context, name string, one bool, also ...string) (swarm.SavedWork, error) {
	works, warnings, err := k.List(ctx, also...)
	if err != nil {
		return swarm.SavedWork{}, err
	}
	var found []swarm.SavedWork
	for _, w := range works {
		if w.Ref == name || ID(w) == name {
			return w, nil
		}
		if w.Name == name {
			found = append(found, w)
		}
	}
	switch {
	case len(found) == 0 && len(warnings) > 0:
		return swarm.SavedWork{}, fmt.Errorf("no saved work '%s' was found: %s", name, warnings[0])
	case len(found) == 0:
		return swarm.SavedWork{}, worker.Hinted(fmt.Sprintf("no saved work '%s'", name), "'swarm rescue ls' lists what there is")
	case one && len(found) > 1:
		ids := make([]string, len(found))
		for i, w := range found {
			ids[i] = ID(w)
		}
		return swarm.SavedWork{}, fmt.Errorf("'%s' is %w, name one of %s", name, ErrAmbiguous, strings.Join(ids, ", "))
	}
	// One removal may save several pieces. The first of them is the worktree.
	newest := found[len(found)-1]
	for _, w := range slices.Backward(found) {
		if w.Time.Equal(newest.Time) && w.Base == newest.Base && len(w.Ref) < len(newest.Ref) {
			newest = w
		}
	}
	return newest, nil
}

// ID returns a short name of saved work, such as "w/20260102T030405.000Z".
func ID(w swarm.SavedWork) string { return backend.RescueID(w.Ref) }

// Show returns saved work with its files.
func (k *Keeper) Show(ctx context.Context, w swarm.SavedWork) (swarm.SavedWork, error) {
	return k.act(ctx, w, swarm.RescueList, "")
}

// Restore brings saved work back, in a directory that is new or empty: into, or the one in
// which the worker of that name would work. The saved work stays.
func (k *Keeper) Restore(ctx context.Context, w swarm.SavedWork, into string) (swarm.SavedWork, error) {
	return k.act(ctx, w, swarm.RescueRestore, into)
}

// Drop deletes saved work for good.
func (k *Keeper) Drop(ctx context.Context, w swarm.SavedWork) (swarm.SavedWork, error) {
	return k.act(ctx, w, swarm.RescueDrop, "")
}

func (k *Keeper) act(ctx context.Context, w swarm.SavedWork, action swarm.RescueAction, into string) (swarm.SavedWork, error) {
	works, err := k.ask(ctx, swarm.RescueRequest{Base: w.Base, Ref: w.Ref, Action: action, Into: into})
	if err == nil && len(works) != 1 {
		err = fmt.Errorf("saved work '%s': %w", w.Ref, swarm.ErrNotFound)
	}
	if err != nil {
		return w, err
	}
	return works[0], nil
}

// ask asks the plugin that makes workspaces.
func (k *Keeper) ask(ctx context.Context, req swarm.RescueRequest) (works []swarm.SavedWork, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	e, err := k.opts.Plugins.WorkspaceEntry(&registry.Record{})
	if err != nil {
		return nil, err
	}
	err = k.opts.Plugins.AskWorkspace(ctx, e, req.Action == swarm.RescueList, func(p *backend.Peer) error {
		r, can := p.Workspace.(swarm.Rescuer)
		if !can || !p.Has(swarm.CapRescue) {
			return worker.Unsupported(e.Name, swarm.CapRescue, "")
		}
		works, err = r.Rescue(ctx, req)
		return err
	})
	return works, err
}

// Diff returns what the work in a worker's workspace has changed since that was made.
func (k *Keeper) Diff(ctx context.Context, name string) (swarm.WorkspaceRef, swarm.Diff, error) {
	return k.Compare(ctx, name, swarm.DiffOptions{})
}

// Compare is [Keeper.Diff] with options.
func (k *Keeper) Compare(ctx context.Context, name string, o swarm.DiffOptions) (ref swarm.WorkspaceRef, diff swarm.Diff, err error) {
	recs, _, err := k.opts.Find(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return ref, diff, err
	}
	rec := recs[0]
	if rec.Workspace == nil {
		return ref, diff, worker.Invalid(fmt.Sprintf("worker '%s' has no worktree", rec.Name))
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	e, err := k.opts.Plugins.WorkspaceEntry(&rec)
	if err != nil {
		return ref, diff, err
	}
	err = k.opts.Plugins.AskWorkspace(ctx, e, true, func(p *backend.Peer) error {
		d, can := p.Workspace.(swarm.Differ)
		if !can || !p.Has(swarm.CapDiff) {
			return worker.Unsupported(e.Name, swarm.CapDiff, "")
		}
		diff, err = d.Diff(ctx, *rec.Workspace, o)
		return err
	})
	if err != nil {
		err = worker.Named(err, "cannot compare the worktree of", rec.Name)
	}
	return *rec.Workspace, diff, err
}
