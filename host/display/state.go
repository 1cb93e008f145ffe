package display

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Look fills in the states of the workers that run and have a profile: one call to
// each backend, and none if no worker has a profile.
func (d *Reader) Look(ctx context.Context, recs []registry.Record, ws []worker.Worker) {
	profiles := make([]*profile.Profile, len(recs))
	byID := make(map[string]int, len(recs))
	for i := range recs {
		byID[recs[i].ID] = i
		if ws[i].Alive() {
			profiles[i] = d.ProfileOf(&recs[i])
		}
	}
	shown := make([]swarm.Screen, len(recs))
	looks := make([]*profile.Look, len(recs))
	hasScreen := func(r registry.Record) bool {
		p := profiles[byID[r.ID]]
		return p != nil && !p.Headless(r.Command)
	}
	backend.Each(d.Plugins.Groups(recs, hasScreen), func(g *backend.Group) {
		for i, s := range d.screens(ctx, g) {
			if at := g.At[i]; s.Err == nil {
				shown[at], looks[at] = s.Screen, lookAt(profiles[at], s.Screen)
			}
		}
	})
	now := time.Now()
	for i, p := range profiles {
		if p == nil || shown[i].Taken {
			continue // one that was taken at its end shows nothing of what is
		}
		s, _ := d.judge(p, &recs[i], looks[i], d.unchanged(recs[i].ID, looks[i]), now)
		if s.Origins.Since.Source == judgement.SourceScreen {
			var lines []string
			if !p.Bare() { // the prompts of a shell are all the same
				lines = shown[i].Lines
			}
			s.Since = quietSince(d.Dir.RunDir(recs[i].ID), lines, s.Since)
		}
		// A shell that is not at its prompt runs anything.
		if s.State != profile.Unknown || !p.Bare() {
			ws[i].State = &s
		}
	}
}

// lookAt reads a screen with a profile.
func lookAt(p *profile.Profile, s swarm.Screen) *profile.Look {
	l := p.Look(profile.Screen{Lines: s.Lines, Styled: s.Styled})
	return &l
}

// States returns the states of the running workers among records that have a profile, by
// id.
func (d *Reader) States(ctx context.Context, recs []registry.Record) map[string]*judgement.State {
	ws := make([]worker.Worker, len(recs))
	for i, r := range recs {
		ws[i] = worker.Of(r)
		ws[i].Status = worker.StatusRunning
	}
	d.Look(ctx, recs, ws)
	states := make(map[string]*judgement.State)
	for _, w := range ws {
		if w.State != nil {
			states[w.ID] = w.State
		}
	}
	return states
}

// StatesOf returns the states of the running workers with these ids that have a profile, by id.
func (d *Reader) StatesOf(ctx context.Context, ids []string) (map[string]*judgement.State, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	reg, err := d.Store.ToRead(ctx)
	if err != nil || reg == nil {
		return nil, err
	}
	recs, _, err := reg.Read(ctx, registry.Query{Names: ids})
	if err != nil {
		return nil, err
	}
	return d.States(ctx, slices.DeleteFunc(recs, func(r registry.Record) bool { return !r.IsRunning() })), nil
}

// Shows returns what the screens of workers that run mean for their agents.
func (d *Reader) Shows(ctx context.Context, recs []registry.Record) map[string]registry.AgentStatus {
	shown := make(map[string]registry.AgentStatus)
	for id, state := range d.States(ctx, recs) {
		shown[id] = worker.TeamStatus(state)
	}
	return shown
}

// unchanged returns a time since which a worker has shown what its screen shows: programs
// that wait draw nothing.
func (d *Reader) unchanged(id string, l *profile.Look) time.Time {
	if l == nil {
		return time.Time{}
	}
	return d.Dir.LastOutput(id)
}

// screensAtOnce is how many screens a backend is asked for at the same time that can't
// return them all with one look.
const screensAtOnce = 16

// screens asks the group's backend what the terminals of all its workers show. A
// backend without screens is the error of each of them.
func (d *Reader) screens(ctx context.Context, g *backend.Group) []swarm.ScreenResult {
	ctx, cancel := d.Plugins.Within(ctx, g.Name, backend.StatusLimit)
	defer cancel()
	results, err := backend.Results(ctx, d.Plugins, g, func(p *backend.Peer) ([]swarm.ScreenResult, error) {
		return screensOf(ctx, p, g.Handles())
	})
	if err != nil {
		results = slices.Repeat([]swarm.ScreenResult{{Err: err}}, len(g.Recs))
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
	slots := make(chan struct{}, screensAtOnce)
	for i := range hs {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
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
	// Lines are what its terminal shows: empty if that is blank, nil without a screen. Styled
	// are the same lines with SGR sequences; nil: the styles are not known.
	Lines  []string
	Styled []string
	Look   profile.Look
	Trials []profile.Trial
	// Hook is the newest report of the agent's hooks, and Live reports whether the agent
	// that it is of lives; nil: there is none.
	Hook *hookstate.Claim
	Live bool
}

// Explain returns the rules of a profile that were tried on a worker's screen, with their
// results.
func (d *Reader) Explain(ctx context.Context, name string) (Explanation, error) {
	recs, _, err := d.Roster.See(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return Explanation{}, err
	}
	ws := d.Roster.Observe(ctx, recs)
	d.Look(ctx, recs, ws)
	e := Explanation{Worker: ws[0], Profile: d.ProfileOf(&recs[0])}
	run := d.Dir.RunDir(recs[0].ID)
	if e.Hook = d.hookClaim(run); e.Hook != nil {
		status, err := statedir.ReadStatus(run)
		e.Live = err == nil && e.Hook.Main == status.Main && e.Hook.Agent.Alive()
	}
	if e.Profile == nil || recs[0].Handle.IsZero() {
		return e, nil
	}
	peek, err := d.Peek(ctx, recs[0].ID, 0)
	if err != nil || !peek.Screen {
		return e, err
	}
	e.Lines, e.Styled = append([]string{}, peek.Lines...), peek.Styled
	e.Look, e.Trials = e.Profile.Explain(profile.Screen{Lines: peek.Lines, Styled: peek.Styled})
	return e, nil
}

// StoppedError says that an agent which is waited for has stopped with a usage limit or with
// an error: it does not get idle by itself.
type StoppedError struct {
	// Name is the worker's.
	Name string
	// State is [profile.Limited] or [profile.Broken].
	State  profile.State
	Reason string
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("'%s' is %s: %s", e.Name, e.State, cmp.Or(e.Reason, "the reason is unknown"))
}

// Hint returns the next step.
func (e *StoppedError) Hint() string {
	return fmt.Sprintf("see it with 'swarm peek %[1]s'; 'swarm explain %[1]s' says how it is known", e.Name)
}

// WaitState waits until the worker is in one of the states and returns it then. An
// idle worker has to be so for a moment: agents draw their prompt between two steps,
// too. A worker that ends before is a [worker.ErrEnded]. If an idle one is waited for, one
// that stopped with a limit or an error is a [*StoppedError], unless that state is waited for.
func (d *Reader) WaitState(ctx context.Context, name string, until []profile.State) (worker.Worker, error) {
	rec, err := d.Roster.Begun(ctx, name)
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
	s, _ := d.judge(p, &rec, nil, time.Time{}, time.Now())
	if w.State = &s; s.Source == judgement.SourceProcess && slices.Contains(until, s.State) {
		return w, nil
	}
	awaited := waitedState{until: until}
	err = d.Plugins.AskOwner(ctx, &rec, true, func(owner *backend.Peer) error {
		for _, c := range []swarm.Capability{swarm.CapScreen, swarm.CapOutput} {
			if !owner.Has(c) {
				return worker.Unsupported(rec.Backend, c, rec.Name)
			}
		}
		return followScreen(ctx, owner, rec.Handle, nil, func(screen swarm.Screen) (bool, time.Duration) {
			if screen.Taken {
				w.State = nil
				awaited.none()
				return false, 0
			}
			look, now := lookAt(p, screen), time.Now()
			s, again := d.judge(p, &rec, look, awaited.shows(look, d.unchanged(rec.ID, look), now), now)
			w.State = &s
			if s.Source == judgement.SourceHook && (again == 0 || again > hookEvery) {
				again = hookEvery
			}
			return awaited.over(s, look.Settle, now), again
		})
	})
	if err == nil && !slices.Contains(until, w.State.State) {
		err = &StoppedError{Name: rec.Name, State: w.State.State, Reason: w.State.Reason}
	}
	if errors.Is(err, context.DeadlineExceeded) && NearlyOver(ctx) {
		<-ctx.Done() // the plugin may see it a moment before
		return w, ctx.Err()
	}
	if errors.Is(err, swarm.ErrNotFound) {
		w = d.Roster.Observe(ctx, []registry.Record{rec})[0]
		return w, worker.NotRunning(rec.Name)
	}
	return w, err
}

// waitedState follows the states of an agent until one of those that are waited for.
type waitedState struct {
	until []profile.State
	// look is what the screen shows since drawn, and state has been the state since.
	look  *profile.Look
	drawn time.Time
	state profile.State
	since time.Time
}

// none records that the screen of the agent can't be seen.
func (a *waitedState) none() { a.look, a.state = nil, "" }

// shows records what the screen shows and returns since when it does. The last output may
// have changed nothing of that.
func (a *waitedState) shows(l *profile.Look, lastOutput, now time.Time) time.Time {
	same := a.look != nil && a.look.State == l.State && a.look.Question == l.Question && a.look.Broken == l.Broken && a.look.Limit == l.Limit
	if !same {
		a.drawn = now
	}
	if a.look = l; !lastOutput.IsZero() && lastOutput.Before(a.drawn) {
		a.drawn = lastOutput
	}
	return a.drawn
}

// over reports whether the wait has ended with a state.
func (a *waitedState) over(s judgement.State, settle time.Duration, now time.Time) bool {
	if s.State != a.state {
		a.state, a.since = s.State, now
	}
	shown := now.Sub(a.since)
	stopped := s.State == profile.Limited || s.State == profile.Broken
	switch {
	case stopped && (slices.Contains(a.until, s.State) || slices.Contains(a.until, profile.Idle)):
		return shown >= max(brokenFor, settle)
	case !slices.Contains(a.until, s.State):
		return false
	case s.State != profile.Idle:
		return true
	default:
		return shown >= max(idleFor, settle) || !s.Since.IsZero() && now.Sub(s.Since) >= max(judgement.SettledFor, settle)
	}
}

const (
	// idleFor is how long a prompt has to be there.
	idleFor = 300 * time.Millisecond
	// hookEvery is how often the report of hooks is read while it decides: a hook may end
	// long after the agent has drawn its last line.
	hookEvery = 2 * time.Second
)

// NearlyOver reports whether a context has ended, or does before anything more can be
// asked.
func NearlyOver(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < 50*time.Millisecond
}
