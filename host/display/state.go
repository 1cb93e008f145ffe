package display

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Look fills in the states of the workers that run and have a profile: one call to
// each backend, and none if no worker has a profile.
func (d *Reader) Look(ctx context.Context, recs []registry.Record, ws []worker.Worker) {
	profiles := make([]*profile.Profile, len(recs))
	for i := range recs {
		if ws[i].Alive() {
			profiles[i] = d.ProfileOf(&recs[i])
		}
		if profiles[i] != nil {
			ws[i].State = d.stateWithoutScreen(profiles[i], &recs[i])
		}
	}
	now := time.Now()
	asks := func(i int) bool { return ws[i].State != nil && ws[i].State.Source == "" }
	byID := make(map[string]int, len(recs))
	for i := range recs {
		byID[recs[i].ID] = i
	}
	backend.Each(d.opts.Plugins.Groups(recs, func(r registry.Record) bool { return asks(byID[r.ID]) }), func(g *backend.Group) {
		for i, s := range d.screens(ctx, g) {
			if at := g.At[i]; s.Err == nil {
				_ = d.seeState(profiles[at], &ws[at], s.Screen)
			}
		}
	})
	for i := range ws {
		if ws[i].State != nil {
			d.hear(&ws[i], now)
		}
		// A shell that is not at its prompt runs anything.
		if s := ws[i].State; s != nil && s.State == profile.Unknown && profiles[i].Bare() {
			ws[i].State = nil
		}
	}
}

// States returns the states of the running workers among records that have a profile, by
// id.
func (d *Reader) States(ctx context.Context, recs []registry.Record) map[string]*worker.AgentState {
	ws := make([]worker.Worker, len(recs))
	for i, r := range recs {
		ws[i] = worker.Of(r)
		ws[i].Status = worker.StatusRunning
	}
	d.Look(ctx, recs, ws)
	states := make(map[string]*worker.AgentState)
	for _, w := range ws {
		if w.State != nil {
			states[w.ID] = w.State
		}
	}
	return states
}

// Shows returns what the screens of workers that run mean for their agents.
func (d *Reader) Shows(ctx context.Context, recs []registry.Record) map[string]team.Status {
	shown := make(map[string]team.Status)
	for id, state := range d.States(ctx, recs) {
		shown[id] = state.Shows()
	}
	return shown
}

// stateWithoutScreen is the state of a worker before its screen is read.
func (d *Reader) stateWithoutScreen(p *profile.Profile, rec *registry.Record) *worker.AgentState {
	s := &worker.AgentState{Profile: p.Name(), State: profile.Unknown}
	if p.Headless(rec.Command) {
		s.State, s.Source = profile.Working, worker.SourceProcess
	}
	return s
}

// seeState fills in what a worker's screen shows, and returns it. One that was taken at
// its end shows nothing of what is.
func (d *Reader) seeState(p *profile.Profile, w *worker.Worker, screen swarm.Screen) profile.Look {
	if screen.Taken {
		w.State = nil
		return profile.Look{}
	}
	l := p.Look(profile.Screen{Lines: screen.Lines, Styled: screen.Styled})
	s := &worker.AgentState{
		Profile: p.Name(), State: l.State, Source: worker.SourceScreen,
		Question: l.Question, Choices: l.Choices, Dialog: l.Dialog, Broken: l.Trouble(),
	}
	if l.State == profile.Idle || l.State == profile.Blocked {
		// Programs that wait draw nothing.
		s.Since = d.opts.Dir.LastOutput(w.ID)
	}
	if l.State == profile.Unknown {
		s.Source = ""
	}
	w.State = s
	return l
}

// screensAtOnce is how many screens a backend is asked for at the same time that can't
// tell them with one look.
const screensAtOnce = 16

// screens asks the group's backend what the terminals of all its workers show. A
// backend without screens is the error of each of them.
func (d *Reader) screens(ctx context.Context, g *backend.Group) []swarm.ScreenResult {
	ctx, cancel := context.WithTimeout(ctx, backend.StatusLimit)
	defer cancel()
	var results []swarm.ScreenResult
	err := g.Err
	if err == nil {
		err = d.opts.Plugins.AskBackend(ctx, g.Entry, true, func(p *backend.Peer) (err error) {
			results, err = screensOf(ctx, p, g.Handles())
			return err
		})
	}
	if err == nil && len(results) != len(g.Recs) {
		err = fmt.Errorf("backend '%s' answered for %d of %d workers", g.Name, len(results), len(g.Recs))
	}
	if err == nil {
		return results
	}
	results = make([]swarm.ScreenResult, len(g.Recs))
	for i := range results {
		results[i].Err = err
	}
	return results
}

func screensOf(ctx context.Context, p *backend.Peer, hs []swarm.Handle) ([]swarm.ScreenResult, error) {
	switch {
	case !p.Has(swarm.CapScreen):
		return nil, swarm.ErrUnsupported
	case p.Has(swarm.CapBatchScreen) && len(hs) > 1:
		return p.Backend.ScreenBatch(ctx, hs, swarm.ScreenOptions{Styles: true})
	}
	results := make([]swarm.ScreenResult, len(hs))
	var asking sync.WaitGroup
	room := make(chan struct{}, screensAtOnce)
	for i := range hs {
		room <- struct{}{}
		asking.Go(func() {
			defer func() { <-room }()
			results[i].Screen, results[i].Err = p.Backend.Screen(ctx, hs[i], swarm.ScreenOptions{Styles: true})
		})
	}
	asking.Wait()
	return results, nil
}

// Explanation is how a profile reads a worker's screen.
type Explanation struct {
	Worker worker.Worker
	// Profile is nil if the worker has none.
	Profile *profile.Profile
	// Lines are what its terminal shows: empty if that is blank, nil without a screen.
	Lines  []string
	Look   profile.Look
	Trials []profile.Trial
}

// Explain returns the rules of a profile that were tried on a worker's screen, with their
// results.
func (d *Reader) Explain(ctx context.Context, name string) (Explanation, error) {
	recs, _, err := d.opts.Find(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return Explanation{}, err
	}
	ws := d.opts.Observe(ctx, recs)
	d.Look(ctx, recs, ws)
	e := Explanation{Worker: ws[0], Profile: d.ProfileOf(&recs[0])}
	if e.Profile == nil || recs[0].Handle.IsZero() {
		return e, nil
	}
	peek, err := d.Peek(ctx, recs[0].ID, 0)
	if err != nil || !peek.Screen {
		return e, err
	}
	e.Lines = append([]string{}, peek.Lines...)
	e.Look, e.Trials = e.Profile.Explain(profile.Screen{Lines: peek.Lines, Styled: peek.Styled})
	return e, nil
}

// WaitState waits until the worker is in one of the states and returns it then. An
// idle worker has to be so for a moment: agents draw their prompt between two steps,
// too. A worker that ends before is a [worker.ErrEnded].
func (d *Reader) WaitState(ctx context.Context, name string, until []profile.State) (worker.Worker, error) {
	rec, err := d.opts.Begun(ctx, name)
	if err != nil {
		return worker.Worker{}, err
	}
	p := d.ProfileOf(&rec)
	if p == nil {
		return worker.Worker{}, worker.Hinted(
			fmt.Sprintf("'%s' has no profile, so its state is not known", rec.Name),
			"'swarm agent profiles' lists the profiles; 'swarm spawn --profile NAME' gives a worker one",
		)
	}
	w := worker.Of(rec)
	w.State = d.stateWithoutScreen(p, &rec)
	if w.State.Source != "" && slices.Contains(until, w.State.State) {
		return w, nil
	}
	e, err := d.opts.Plugins.Entry(rec.Backend, rec.Plugin)
	if err != nil {
		return w, err
	}
	var since time.Time
	err = d.opts.Plugins.AskBackend(ctx, e, true, func(owner *backend.Peer) error {
		for _, c := range []swarm.Capability{swarm.CapScreen, swarm.CapOutput} {
			if !owner.Has(c) {
				return worker.Unsupported(rec.Backend, c, rec.Name)
			}
		}
		return followScreen(ctx, owner, rec.Handle, nil, func(s swarm.Screen) bool {
			look := d.seeState(p, &w, s)
			if w.State != nil {
				d.hear(&w, time.Now())
			}
			if w.State == nil || !slices.Contains(until, w.State.State) {
				since = time.Time{}
				return false
			}
			if since.IsZero() {
				since = time.Now()
			}
			return w.State.State != profile.Idle || time.Since(since) >= max(idleFor, look.Settle) ||
				!w.State.Since.IsZero() && time.Since(w.State.Since) >= max(settledFor, look.Settle)
		})
	})
	if errors.Is(err, context.DeadlineExceeded) && NearlyOver(ctx) {
		<-ctx.Done() // the plugin may see it a moment before
		return w, ctx.Err()
	}
	if errors.Is(err, swarm.ErrNotFound) {
		w = d.opts.Observe(ctx, []registry.Record{rec})[0]
		return w, worker.NotRunning(rec.Name)
	}
	return w, err
}

// idleFor is how long a prompt has to be there.
const idleFor = 300 * time.Millisecond

// NearlyOver reports whether a context has ended, or does before anything more can be
// asked.
func NearlyOver(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < 50*time.Millisecond
}
