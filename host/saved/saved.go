package saved

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// askLimit is how long a plugin may take for one repository.
const askLimit = 5 * time.Minute

// Rescues are the work that was saved from removed workspaces. Their methods may be called
// concurrently. The fields are what they need.
type Rescues struct {
	Dir     statedir.Dir
	Plugins *backend.Plugins
	Roster  *roster.Roster
}

// ErrAmbiguous says that a name means more than one piece of saved work.
var ErrAmbiguous = errors.New("ambiguous")

// List returns all saved work, the oldest first: of the repositories of all workers, of
// those from which work was ever saved, and of those that the directories in also are in.
// A repository that can't be asked is named in warnings, unless its plugin has no [swarm.Rescuer] and
// has saved nothing.
func (s *Rescues) List(ctx context.Context, also ...string) (works []swarm.SavedWork, warnings []string, err error) {
	repos, err := s.repositories(ctx)
	if err != nil {
		return nil, nil, err
	}
	known := len(repos)
	for _, dir := range also {
		repos = append(repos, repository{Repository: statedir.Repository{Base: dir}})
	}
	lists, errs := s.search(ctx, repos)
	noted := s.Dir.RescueBases()
	for i, found := range lists {
		switch err := errs[i]; {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, swarm.ErrInvalidSpec) && i >= known:
			// The caller's directory need not be in a repository.
		case errors.Is(err, swarm.ErrUnsupported) && !slices.Contains(noted, repos[i].Repository):
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("cannot look for saved work in %s: %s", repos[i], worker.Wording(err)))
		}
		for _, w := range found {
			if !slices.ContainsFunc(works, func(o swarm.SavedWork) bool { return isSame(o, w) && o.Ref == w.Ref }) {
				works = append(works, w)
			}
		}
	}
	slices.SortStableFunc(works, func(a, b swarm.SavedWork) int { return a.Time.Compare(b.Time) })
	return works, warnings, nil
}

// isSame reports whether two pieces of saved work are in the same repository.
func isSame(a, b swarm.SavedWork) bool { return a.Base == b.Base && a.Host == b.Host }

// search lists the saved work of repositories. The repositories of other machines are asked
// at the same time as those of this one.
func (s *Rescues) search(ctx context.Context, repos []repository) (lists [][]swarm.SavedWork, errs []error) {
	lists, errs = make([][]swarm.SavedWork, len(repos)), make([]error, len(repos))
	list := func(i int) { lists[i], errs[i] = s.ask(ctx, repos[i], swarm.RescueRequest{Base: repos[i].Base}) }
	var away sync.WaitGroup
	for i, r := range repos {
		if r.Host != "" {
			away.Go(func() { list(i) })
		}
	}
	for i, r := range repos {
		if r.Host != "" || ctx.Err() != nil {
			continue
		}
		if _, err := os.Stat(r.Base); !errors.Is(err, fs.ErrNotExist) { // else its work is gone with it
			list(i)
		}
	}
	away.Wait()
	return lists, errs
}

type repository struct {
	statedir.Repository
	// config is how the record that names the repository says that its plugin is started; nil: the
	// one that has that name now.
	config *registry.Plugin
}

func (s *Rescues) repositories(ctx context.Context) (repos []repository, err error) {
	recs, _, err := s.Roster.See(ctx, worker.Selection{All: true})
	if err != nil {
		return nil, err
	}
	for _, r := range recs {
		switch ws := r.Workspace; {
		case ws != nil && ws.Host != "":
			repos = append(repos, repository{backend.RepositoryOf(&r), r.Plugin})
		case ws != nil && r.Ask != nil:
			repos = append(repos, repository{backend.RepositoryOf(&r), r.Ask.Config})
		case r.Ask != nil && !r.Ask.Away: // else its host is not known
			repos = append(repos, repository{statedir.Repository{Base: r.Ask.Base, Plugin: r.Ask.Plugin}, r.Ask.Config})
		}
	}
	for _, r := range s.Dir.RescueBases() {
		repos = append(repos, repository{Repository: r})
	}
	slices.SortStableFunc(repos, func(a, b repository) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Base, b.Base), cmp.Compare(a.Plugin, b.Plugin))
	})
	return slices.CompactFunc(repos, func(a, b repository) bool { return a.Repository == b.Repository }), nil
}

// of returns the repositories that may have saved work: of one directory, several plugins may have
// made workspaces.
func (s *Rescues) of(ctx context.Context, w swarm.SavedWork) ([]repository, error) {
	repos, err := s.repositories(ctx)
	if err != nil {
		return nil, err
	}
	repos = slices.DeleteFunc(repos, func(r repository) bool { return r.Host != w.Host })
	of := slices.DeleteFunc(slices.Clone(repos), func(r repository) bool { return r.Base != w.Base })
	switch {
	case w.Host == "":
		return append(of, repository{Repository: statedir.Repository{Base: w.Base}}), nil
	case len(of) > 0:
		return of, nil
	case len(repos) > 0:
		repos[0].Base = w.Base
		return repos[:1], nil
	}
	return nil, fmt.Errorf("saved work '%s': %w", w.Ref, swarm.ErrNotFound)
}

// Find returns the saved work that a name means: the name of a worker, of which it is the
// newest, a worker's name with the time, or the whole ref. With one set, the name of a
// worker with several pieces of saved work is [ErrAmbiguous].
func (s *Rescues) Find(ctx context.Context, name string, one bool, also ...string) (swarm.SavedWork, error) {
	works, warnings, err := s.List(ctx, also...)
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
	// One removal may save several pieces. The first of them is the workspace.
	newest := found[len(found)-1]
	for _, w := range slices.Backward(found) {
		if w.Time.Equal(newest.Time) && isSame(w, newest) && len(w.Ref) < len(newest.Ref) {
			newest = w
		}
	}
	return newest, nil
}

// ID returns a short name of saved work, such as "w/20260102T030405.000Z".
func ID(w swarm.SavedWork) string { return backend.RescueID(w.Ref) }

// Show returns saved work with its files.
func (s *Rescues) Show(ctx context.Context, w swarm.SavedWork) (swarm.SavedWork, error) {
	return s.act(ctx, w, swarm.RescueList, "")
}

// Restore brings saved work back, in a directory that is new or empty: into, or the one in
// which the worker of that name would work. The saved work stays.
func (s *Rescues) Restore(ctx context.Context, w swarm.SavedWork, into string) (swarm.SavedWork, error) {
	return s.act(ctx, w, swarm.RescueRestore, into)
}

// Drop deletes saved work for good.
func (s *Rescues) Drop(ctx context.Context, w swarm.SavedWork) (swarm.SavedWork, error) {
	return s.act(ctx, w, swarm.RescueDrop, "")
}

func (s *Rescues) act(ctx context.Context, w swarm.SavedWork, action swarm.RescueAction, into string) (swarm.SavedWork, error) {
	repos, err := s.of(ctx, w)
	if err != nil {
		return w, err
	}
	for _, repo := range repos {
		var works []swarm.SavedWork
		works, err = s.ask(ctx, repo, swarm.RescueRequest{Base: w.Base, Ref: w.Ref, Action: action, Into: into})
		if err == nil && len(works) != 1 {
			err = fmt.Errorf("saved work '%s': %w", w.Ref, swarm.ErrNotFound)
		}
		switch {
		case err == nil:
			return works[0], nil
		case !errors.Is(err, swarm.ErrNotFound):
			return w, err
		}
	}
	return w, err
}

func (s *Rescues) ask(ctx context.Context, repo repository, req swarm.RescueRequest) (works []swarm.SavedWork, err error) {
	e, err := s.Plugins.MakerOf(repo.Plugin, repo.config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.Plugins.Within(ctx, e.Name, askLimit)
	defer cancel()
	req.Host = repo.Host
	err = s.Plugins.AskWorkspace(ctx, e, req.Action == swarm.RescueList, func(p *backend.Peer) error {
		r, can := p.Workspace.(swarm.Rescuer)
		if !can || !p.Has(swarm.CapRescue) {
			return fmt.Errorf("%w: only the command that was printed when it saved work brings that back",
				worker.UnsupportedByPlugin(e.Name, swarm.CapRescue))
		}
		works, err = r.Rescue(ctx, req)
		return err
	})
	for i := range works {
		works[i].Host = repo.Host
	}
	return works, err
}
