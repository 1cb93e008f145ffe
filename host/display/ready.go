package display

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/ready"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// DefaultReadyTimeout is how long to wait for a worker to be ready unless the caller says how long.
const DefaultReadyTimeout = 2 * time.Minute

// ErrNotReady says that the worker did not become ready in time.
var ErrNotReady = errors.New("worker is not ready")

// ErrRestarted says that it did not since it ends, and is started again, time after time; the
// error is an [ErrNotReady], too, and its text says all.
var ErrRestarted = worker.Errorf(ErrNotReady, "worker was restarted")

// ReadyRequest describes when a worker is ready.
type ReadyRequest struct {
	// Pattern matches a line of its screen or of its output; nil: the prompt that its
	// profile knows, or, without one, what agents and shells show, see [ready.Lines].
	Pattern *regexp.Regexp
	// Timeout is how long to wait; 0: [DefaultReadyTimeout].
	Timeout time.Duration
}

func (r ReadyRequest) ready(lines []string) bool {
	if r.Pattern == nil {
		return ready.Lines(lines)
	}
	return slices.ContainsFunc(lines, r.Pattern.MatchString)
}

// AwaitReady returns nil as soon as a worker shows that it is ready, or has shown
// it before. It is an [ErrNotReady] if it does not within the time, an [*AsksError] if
// it asks something first, an [ErrBroken] if it shows an error, and a [worker.ErrEnded] if
// it ends before. It writes nothing.
func (d *Reader) AwaitReady(ctx context.Context, name string, r ReadyRequest) error {
	d.Store.SayIfSlow()
	if r.Timeout <= 0 {
		r.Timeout = DefaultReadyTimeout
	}
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	rec, err := d.Roster.Begun(limited, name)
	if err == nil {
		err = d.followReady(limited, rec, r)
	}
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	var now worker.Worker
	if late && rec.Name != "" || errors.Is(err, worker.ErrEnded) {
		now = d.Roster.Observe(ctx, []registry.Record{rec})[0]
	}
	switch {
	case late && now.Status != worker.StatusStopped:
		if how := restarts(now); how != "" {
			return worker.Errorf(ErrRestarted, "%s '%s' did not become ready within %gs: %s", d.noun(&rec), rec.Name, r.Timeout.Seconds(), how)
		}
		return fmt.Errorf("%w: '%s' did not become ready within %s", ErrNotReady, name, r.Timeout)
	case late || errors.Is(err, worker.ErrEnded):
		ended := worker.Errorf(worker.ErrEnded, "%s '%s' ended before it was ready%s", d.noun(&rec), rec.Name, howEnded(now))
		if text := d.brokenAtEnd(ctx, &rec); text != "" {
			return broken(rec.Name, worker.Errorf(errors.Join(ErrBroken, ended), "%v: %s", ended, text))
		}
		return ended
	case err == nil:
		// Its output may have shown that it was ready before it failed.
		now := d.Roster.Observe(ctx, []registry.Record{rec})[0]
		if e := now.Exit; now.Status == worker.StatusStopped && e != nil && (e.Cause == swarm.CauseExited && (e.Code != 0 || e.Signal != "") || now.InCrashLoop()) {
			return worker.Errorf(worker.ErrEnded, "%s '%s' was ready and has ended%s", d.noun(&rec), rec.Name, howEnded(now))
		}
		return nil
	default:
		return err
	}
}

// noun is what errors call a worker: an agent if it has a profile.
func (d *Reader) noun(rec *registry.Record) string {
	if d.ProfileOf(rec) != nil {
		return "agent"
	}
	return "worker"
}

// howEnded returns how a worker ended, such as " (exit 4)"; empty if that is not known.
func howEnded(w worker.Worker) string {
	if w.Exit == nil {
		return ""
	}
	text := cmp.Or(w.Exit.Signal, fmt.Sprintf("exit %d", w.Exit.Code))
	if w.InCrashLoop() {
		text += ", crash loop: " + cmp.Or(restarted(w.Restarts), "not restarted")
	}
	return " (" + text + ")"
}

// restarts describes the restarts of a worker that continues, such as "restarting in 4s (exit
// status 4), restarted 2 times"; empty without any.
func restarts(w worker.Worker) string {
	if !w.BetweenStarts() || w.Reason == "" {
		return restarted(w.Restarts)
	}
	return strings.TrimSuffix(w.Reason+", "+restarted(w.Restarts), ", ")
}

func restarted(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "restarted once"
	default:
		return fmt.Sprintf("restarted %d times", n)
	}
}

func (d *Reader) followReady(ctx context.Context, rec registry.Record, r ReadyRequest) error {
	err := d.Plugins.AskOwner(ctx, &rec, true, func(p *backend.Peer) error {
		if !p.Has(swarm.CapOutput) {
			return worker.Unsupported(rec.Backend, swarm.CapOutput, rec.Name)
		}
		if known := d.ProfileOf(&rec); known != nil && r.Pattern == nil && p.Has(swarm.CapScreen) {
			return followProfile(ctx, p, rec, known)
		}
		return followReady(ctx, p, rec.Handle, r)
	})
	if errors.Is(err, swarm.ErrNotFound) {
		return worker.NotRunning(rec.Name)
	}
	return err
}

// AsksError says that an agent asks something before it takes any other input. It is
// an [ErrNotReady].
type AsksError struct {
	// Name is the worker's.
	Name, Question string
	Choices        []profile.Choice
}

func (e *AsksError) Error() string        { return fmt.Sprintf("'%s' asks: %s", e.Name, e.Question) }
func (e *AsksError) Is(target error) bool { return target == ErrNotReady }

// Hint returns the next step.
func (e *AsksError) Hint() string {
	return fmt.Sprintf("see it with 'swarm peek %[1]s'; answer it with 'swarm answer %[1]s CHOICE' or in 'swarm attach %[1]s'", e.Name)
}

// ErrBroken says that an agent shows an error instead of its prompt. It is an
// [ErrNotReady], too.
var ErrBroken = worker.Errorf(ErrNotReady, "the agent shows an error")

// broken adds the next step to an [ErrBroken] of an agent.
func broken(name string, err error) error {
	return worker.WithHint(err, fmt.Sprintf("see it with 'swarm peek %s'", name))
}

// unknownFor is how long something like a prompt has to be there on a screen that the
// profile does not know.
const unknownFor = 3 * time.Second

// brokenFor is how long an error has to be there: a program may end with it, and how it
// ended is worth reporting.
const brokenFor = time.Second

// followProfile follows what a worker shows until its profile says that it is at its
// prompt: nil. A dialog is an [*AsksError], an error screen an [ErrBroken].
func followProfile(ctx context.Context, owner *backend.Peer, rec registry.Record, p *profile.Profile) error {
	start := startState{profile: p}
	err := followScreen(ctx, owner, rec.Handle, nil, func(s swarm.Screen) (bool, time.Duration) {
		return !s.Taken && start.over(profile.Screen{Lines: s.Lines, Styled: s.Styled}, time.Now()), 0
	})
	switch {
	case err != nil:
		return err
	case start.look.State == profile.Blocked:
		return &AsksError{Name: rec.Name, Question: start.look.Question, Choices: start.look.Choices}
	case start.look.Trouble() != "":
		return broken(rec.Name, worker.Errorf(ErrBroken, "'%s' shows an error: %s", rec.Name, start.look.Trouble()))
	}
	return nil
}

// startState judges the screens that a program shows while it starts, one after the other.
// A program that starts draws many a screen, and some only in part, so what ends the start
// has to be there for a while.
type startState struct {
	profile *profile.Profile
	// look is what the last screen shows, and prompt says whether it has something like a
	// prompt; both have been so since.
	look   profile.Look
	prompt bool
	since  time.Time
}

// over reports whether the start has ended with a screen that is shown now: with a prompt, a
// dialog or an error, see look.
func (s *startState) over(screen profile.Screen, now time.Time) bool {
	look, prompt := s.profile.Look(screen), ready.Lines(screen.Lines)
	if s.since.IsZero() || prompt != s.prompt ||
		look.State != s.look.State || look.Settle != s.look.Settle || look.Trouble() != s.look.Trouble() || look.Question != s.look.Question {
		s.since = now
	}
	s.look, s.prompt = look, prompt
	shown := now.Sub(s.since)
	switch {
	case look.State == profile.Working:
		return false
	case look.State == profile.Unknown && look.Trouble() == "":
		// Another version of the program may draw its prompt in another way.
		return prompt && shown >= unknownFor
	case look.Trouble() != "":
		return shown >= max(brokenFor, s.profile.Settle(look))
	default:
		return shown >= s.profile.Settle(look)
	}
}

// brokenAtEnd returns the error that the last screen of a worker shows; empty: none.
func (d *Reader) brokenAtEnd(ctx context.Context, rec *registry.Record) string {
	p := d.ProfileOf(rec)
	if p == nil {
		return ""
	}
	peek, err := d.Peek(ctx, rec.ID, 0)
	if err != nil || !peek.Screen {
		return ""
	}
	return p.Look(profile.Screen{Lines: peek.Lines, Styled: peek.Styled}).Trouble()
}
