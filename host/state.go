package host

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
	"github.com/swarmhost/swarm/shared/swarm"
)

// The sources of an [AgentState].
const (
	// SourceHook: its hooks said so.
	SourceHook = "hook"
	// SourceScreen: its screen shows it.
	SourceScreen = "screen"
	// SourceProcess: it works without a screen as long as its process lives.
	SourceProcess = "process"
)

// AgentState is what a worker with a profile does. It is read off text that the
// worker wrote, or its hooks, so it is for people and for refusing to type; nothing may be answered
// because of it.
type AgentState struct {
	// Profile is the name of the profile.
	Profile string
	State   profile.State
	// Source says how it is known; empty: it is not.
	Source string
	// Since is the moment since which it is so at least; zero if not known.
	Since time.Time
	// Question and Choices are set if State is [profile.Blocked], as far as they are
	// known.
	Question string
	Choices  []profile.Choice
	// Broken is the text of an error that the screen shows.
	Broken string
}

// Profiles returns the profiles of this user. Files that can't be used are left out;
// the error says which and why.
func (h *Host) Profiles() (*profile.Set, error) { return h.profiles() }

// profileOf returns the profile of a worker; nil: none.
func (h *Host) profileOf(rec *registry.Record) *profile.Profile {
	if rec.Profile == profile.None {
		return nil
	}
	set, err := h.profiles()
	if err != nil {
		h.log.Debug("profiles are left out", "error", err)
	}
	if rec.Profile != "" {
		return set.Named(rec.Profile)
	}
	return set.For(rec.Command)
}

// checkProfile refuses the name of a profile that does not exist.
func (h *Host) checkProfile(name string) error {
	if name == "" || name == profile.None {
		return nil
	}
	set, err := h.profiles()
	if set.Named(name) != nil {
		return nil
	}
	var names []string
	for _, p := range set.All() {
		names = append(names, p.Name())
	}
	return errors.Join(&NoProfileError{Name: name, Known: names}, err)
}

// lookAll fills in the states of the workers that run and have a profile: one call to
// each backend, and none if no worker has a profile.
func (h *Host) lookAll(ctx context.Context, recs []registry.Record, ws []Worker) {
	profiles := make([]*profile.Profile, len(recs))
	for i := range recs {
		if !alive(&ws[i]) {
			continue
		}
		if profiles[i] = h.profileOf(&recs[i]); profiles[i] == nil {
			continue
		}
		ws[i].State = h.stateWithoutScreen(profiles[i], &recs[i])
	}
	now := time.Now()
	asks := func(i int) bool { return ws[i].State != nil && ws[i].State.Source == "" }
	byID := make(map[string]int, len(recs))
	for i := range recs {
		byID[recs[i].ID] = i
	}
	backend.Each(h.plugins.Groups(recs, func(r registry.Record) bool { return asks(byID[r.ID]) }), func(g *backend.Group) {
		for i, s := range h.screens(ctx, g) {
			if at := g.At[i]; s.Err == nil {
				h.seeState(profiles[at], &ws[at], s.Screen)
			}
		}
	})
	for i := range ws {
		if ws[i].State != nil {
			h.hear(&ws[i], now)
		}
		// A shell that is not at its prompt runs anything.
		if s := ws[i].State; s != nil && s.State == profile.Unknown && profiles[i].Bare() {
			ws[i].State = nil
		}
	}
}

// AgentStates returns what workers do that have a profile and run, by their ids.
func (h *Host) AgentStates(ctx context.Context, ids []string) (map[string]*AgentState, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	reg, err := h.store.Reading(ctx)
	if err != nil || reg == nil {
		return nil, err
	}
	recs, _, err := reg.Read(ctx, registry.Query{Names: ids})
	if err != nil {
		return nil, err
	}
	return h.statesOf(ctx, slices.DeleteFunc(recs, func(r registry.Record) bool { return !r.IsRunning() })), nil
}

// statesOf is AgentStates for records of workers that run.
func (h *Host) statesOf(ctx context.Context, recs []registry.Record) map[string]*AgentState {
	ws := make([]Worker, len(recs))
	for i, r := range recs {
		ws[i] = worker(r)
		ws[i].Status = StatusRunning
	}
	h.lookAll(ctx, recs, ws)
	states := make(map[string]*AgentState)
	for _, w := range ws {
		if w.State != nil {
			states[w.ID] = w.State
		}
	}
	return states
}

// Shows returns what a state means for an agent of a team; empty: nothing.
func (s *AgentState) Shows() team.Status {
	switch {
	case s == nil:
		return ""
	case s.State == profile.Idle:
		return team.Idle
	case s.State == profile.Working || s.State == profile.Blocked:
		return team.Active
	default:
		return ""
	}
}

// shows returns what the screens of workers that run mean for their agents.
func (h *Host) shows(ctx context.Context, recs []registry.Record) map[string]team.Status {
	shown := make(map[string]team.Status)
	for id, state := range h.statesOf(ctx, recs) {
		shown[id] = state.Shows()
	}
	return shown
}

// alive reports whether the main process of a worker runs: no state outlives it.
func alive(w *Worker) bool { return w.Status == StatusRunning && (w.PID != 0 || w.Reason == "") }

// stateWithoutScreen is what is known of a worker before its screen is looked at.
func (h *Host) stateWithoutScreen(p *profile.Profile, rec *registry.Record) *AgentState {
	s := &AgentState{Profile: p.Name(), State: profile.Unknown}
	if p.Headless(rec.Command) {
		s.State, s.Source = profile.Working, SourceProcess
	}
	return s
}

// seeState fills in what a worker's screen shows. One that was taken at its end shows
// nothing of what is.
func (h *Host) seeState(p *profile.Profile, w *Worker, screen swarm.Screen) {
	if screen.Taken {
		w.State = nil
		return
	}
	l := p.Look(profile.Screen{Lines: screen.Lines})
	s := &AgentState{
		Profile: p.Name(), State: l.State, Source: SourceScreen,
		Question: l.Question, Choices: l.Choices, Broken: l.Broken,
	}
	if l.State == profile.Idle || l.State == profile.Blocked {
		// Programs that wait draw nothing.
		s.Since = h.dir.LastOutput(w.ID)
	}
	if l.State == profile.Unknown {
		s.Source = ""
	}
	w.State = s
}

// screensAtOnce is how many screens a backend is asked for at the same time that can't
// tell them with one look.
const screensAtOnce = 16

// screens asks the group's backend what the terminals of all its workers show. A
// backend without screens is the error of each of them.
func (h *Host) screens(ctx context.Context, g *backend.Group) []swarm.ScreenResult {
	ctx, cancel := context.WithTimeout(ctx, backend.StatusLimit)
	defer cancel()
	var results []swarm.ScreenResult
	err := g.Err
	if err == nil {
		err = h.plugins.AskBackend(ctx, g.Entry, true, func(p *backend.Peer) (err error) {
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
		return p.Backend.ScreenBatch(ctx, hs, swarm.ScreenOptions{})
	}
	results := make([]swarm.ScreenResult, len(hs))
	var asking sync.WaitGroup
	room := make(chan struct{}, screensAtOnce)
	for i := range hs {
		room <- struct{}{}
		asking.Go(func() {
			defer func() { <-room }()
			results[i].Screen, results[i].Err = p.Backend.Screen(ctx, hs[i], swarm.ScreenOptions{})
		})
	}
	asking.Wait()
	return results, nil
}

// Explanation is how a profile reads a worker's screen.
type Explanation struct {
	Worker Worker
	// Profile is nil if the worker has none.
	Profile *profile.Profile
	// Lines are what its terminal shows; nil without a screen.
	Lines  []string
	Look   profile.Look
	Trials []profile.Trial
}

// Explain tells which rules of its profile were tried on a worker's screen, and what
// came of each.
func (h *Host) Explain(ctx context.Context, name string) (Explanation, error) {
	recs, _, err := h.choose(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Explanation{}, err
	}
	ws := h.observe(ctx, recs)
	h.lookAll(ctx, recs, ws)
	e := Explanation{Worker: ws[0], Profile: h.profileOf(&recs[0])}
	if e.Profile == nil || recs[0].Handle.IsZero() {
		return e, nil
	}
	peek, err := h.Peek(ctx, recs[0].ID, 0)
	if err != nil || !peek.Screen {
		return e, err
	}
	e.Lines = peek.Lines
	e.Look, e.Trials = e.Profile.Explain(profile.Screen{Lines: peek.Lines})
	return e, nil
}

// WaitState waits until the worker is in one of the states and returns it then. An
// idle worker has to be so for a moment: agents draw their prompt between two steps,
// too. A worker that ends before is an [ErrEnded].
func (h *Host) WaitState(ctx context.Context, name string, until []profile.State) (Worker, error) {
	rec, err := h.begun(ctx, name)
	if err != nil {
		return Worker{}, err
	}
	p := h.profileOf(&rec)
	if p == nil {
		return Worker{}, &hintedError{
			text: fmt.Sprintf("'%s' has no profile, so its state is not known", rec.Name),
			hint: "'swarm agent profiles' lists the profiles; 'swarm spawn --profile NAME' gives a worker one",
		}
	}
	w := worker(rec)
	w.State = h.stateWithoutScreen(p, &rec)
	if w.State.Source != "" && slices.Contains(until, w.State.State) {
		return w, nil
	}
	e, err := h.plugins.Entry(rec.Backend, rec.Plugin)
	if err != nil {
		return w, err
	}
	var since time.Time
	err = h.plugins.AskBackend(ctx, e, true, func(owner *backend.Peer) error {
		for _, c := range []swarm.Capability{swarm.CapScreen, swarm.CapOutput} {
			if !owner.Has(c) {
				return &unsupportedError{backend: rec.Backend, cap: c, name: rec.Name}
			}
		}
		return followScreen(ctx, owner, rec.Handle, nil, func(s swarm.Screen) bool {
			h.seeState(p, &w, s)
			if w.State != nil {
				h.hear(&w, time.Now())
			}
			if w.State == nil || !slices.Contains(until, w.State.State) {
				since = time.Time{}
				return false
			}
			if since.IsZero() {
				since = time.Now()
			}
			return w.State.State != profile.Idle || time.Since(since) >= idleFor ||
				!w.State.Since.IsZero() && time.Since(w.State.Since) >= settledFor
		})
	})
	if errors.Is(err, context.DeadlineExceeded) && nearlyOver(ctx) {
		<-ctx.Done() // the plugin may see it a moment before
		return w, ctx.Err()
	}
	if errors.Is(err, swarm.ErrNotFound) {
		w = h.observe(ctx, []registry.Record{rec})[0]
		return w, &endedError{name: rec.Name}
	}
	return w, err
}

// idleFor is how long a prompt has to be there.
const idleFor = 300 * time.Millisecond
