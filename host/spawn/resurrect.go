package spawn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// How a worker ended with the machine.
const (
	// cutOff: the machine went down without notice to the shim, as in a power failure.
	cutOff = "it ran when the machine went down"
	// shutDown: the shim was asked to end, and ended the worker.
	shutDown = "it ended with the shutdown of the machine"
)

// Interrupted is a worker that ran until the machine went down.
type Interrupted struct {
	// Worker is what is recorded of it; its backend was not asked.
	Worker worker.Worker
	// Why is how it ended with the machine, in one line.
	Why string
	// Resume says that it is started with the command that continues its agent's
	// conversation.
	Resume bool
	// Refused says why it is started again only if it is named; empty if it is always.
	Refused string
}

// Interrupted returns those of the selected workers that ran until the machine went down and have
// not been started since. It leaves out workers that had ended before, that were about to
// be killed, and shells, which belong to a session. It reads files and the registry, and
// changes nothing.
func (s *Spawner) Interrupted(ctx context.Context, sel worker.Selection) ([]Interrupted, error) {
	reg, err := s.Store.ToRead(ctx)
	if err != nil {
		return nil, err
	}
	recs, _, err := store.Select(ctx, reg, sel.Names, sel.Tag)
	if err != nil {
		return nil, err
	}
	return s.interrupted(ctx, reg, recs)
}

func (s *Spawner) interrupted(ctx context.Context, reg *registry.Registry, recs []registry.Record) ([]Interrupted, error) {
	boot, err := proc.BootID()
	booted, timeErr := proc.BootTime()
	if err = errors.Join(err, timeErr); err != nil {
		return nil, fmt.Errorf("cannot determine whether the machine was restarted: %w", err)
	}
	var interrupted []Interrupted
	for _, rec := range recs {
		why, ended := fell(s.Dir.RunDir(rec.ID), &rec, boot)
		if why == "" {
			continue
		}
		livedOn, err := outlived(ctx, reg, ended, booted)
		if err != nil {
			return nil, err
		}
		if livedOn {
			continue
		}
		meant := false
		var events []registry.Event
		err = reg.EachEvent(ctx, registry.EventQuery{Worker: rec.Name}, func(e registry.Event) error {
			over := e.Final && e.Time.Before(booted) && ended.IsZero()
			meant = meant || e.ID == rec.ID && (over || e.Kind == history.KillRequested)
			if e.Kind == history.Resurrected {
				events = append(events, e)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if meant {
			continue
		}
		_, _, resumeErr := s.resumed(rec, "")
		interrupted = append(interrupted, Interrupted{
			Worker: worker.Of(rec), Why: why, Resume: resumeErr == nil, Refused: refusal(&rec, events, time.Now()),
		})
	}
	return interrupted, nil
}

// shutdownSpan is how long the shutdown of a machine may take.
const shutdownSpan = 5 * time.Minute

// outlived reports whether the machine continued after a worker that its shim had been asked to
// end at that time: something happened to workers later and before the present boot. ended
// is zero for a worker that was cut off.
func outlived(ctx context.Context, reg *registry.Registry, ended, booted time.Time) (bool, error) {
	if ended.IsZero() {
		return false, nil
	}
	return reg.HappenedBetween(ctx, ended.Add(shutdownSpan), booted)
}

// fell returns how a worker, whose run directory is dir, ended with the machine, and when,
// if that was recorded; empty if it did not. boot is the id of the present boot.
func fell(dir string, rec *registry.Record, boot string) (why string, ended time.Time) {
	if rec.State == registry.Starting || rec.Step == registry.StepKilling || rec.Shell != nil {
		return "", time.Time{}
	}
	st, err := statedir.ReadStatus(dir)
	switch {
	case err != nil, st.ID != rec.ID, st.Shim.Boot == "", st.Shim.Boot == boot, st.Completion != nil:
		return "", time.Time{}
	case st.State != rundir.StateEnded:
		return cutOff, time.Time{}
	case st.Cause == swarm.CauseShutdown:
		return shutDown, time.Unix(0, st.EndedNS)
	default:
		return "", time.Time{}
	}
}

// refusal returns the reason not to start an unnamed worker again, or "". events are at least
// the resurrections of all workers of its name.
func refusal(rec *registry.Record, events []registry.Event, now time.Time) string {
	if rec.Owner != nil && !caller.OwnerLives(*rec.Owner) {
		return "its owner has ended"
	}
	// Its restart policy bounds resurrections too: it may be what brings the machine down.
	policy := rec.Restart
	if policy.When == swarm.RestartNo {
		policy.When = swarm.RestartAlways
	}
	policy = policy.OrDefault()
	window := max(policy.Window, resurrectWindow)
	n := 0
	for _, e := range events {
		if e.Kind == history.Resurrected && now.Sub(e.Time) < window {
			n++
		}
	}
	if n >= policy.Budget {
		return fmt.Sprintf("it was resurrected %d times within %s", n, humane.Age(window))
	}
	return ""
}

// resurrectWindow is the least window in which a restart policy's budget counts
// resurrections: a machine takes minutes to restart.
const resurrectWindow = time.Hour

// ResurrectRequest says which interrupted workers to start, and has the callbacks.
type ResurrectRequest struct {
	// Marked leaves out workers that were not spawned to be resurrected.
	Marked bool
	// Named says that the caller named the workers: refused ones are started too.
	Named bool
	// Each, if not nil, is called for each worker once it is started, refused, or failed.
	Each func(Resurrection)
	// Warn and Notice are as in [RespawnRequest].
	Warn   func(worker.Warning)
	Notice func(string)
}

// Resurrection is the outcome for one interrupted worker.
type Resurrection struct {
	Interrupted
	// Err says why it could not be started; nil if it runs, or was refused.
	Err error
}

// Resurrect starts those of the given workers again that ran until the machine went down,
// one after the other, as [Spawner.Respawn] does. Concurrent calls act one after the
// other, and nothing is started twice.
func (s *Spawner) Resurrect(ctx context.Context, sel worker.Selection, req ResurrectRequest) ([]Resurrection, error) {
	reg, err := s.Store.ToWrite(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := s.Dir.Lock(ctx, statedir.ResurrectLock)
	if err != nil {
		return nil, err
	}
	defer unlock()
	recs, _, err := s.Roster.Pick(ctx, sel)
	if err != nil {
		return nil, err
	}
	interrupted, err := s.interrupted(ctx, reg, recs)
	if err != nil {
		return nil, err
	}
	var all []Resurrection
	for _, f := range interrupted {
		if req.Marked && !f.Worker.Resurrect {
			continue
		}
		if err := ctx.Err(); err != nil {
			return all, err
		}
		r := Resurrection{Interrupted: f}
		if req.Named {
			r.Refused = ""
		}
		if r.Refused == "" {
			r.Worker, r.Err = s.resurrect(ctx, reg, f, req)
			if errors.Is(r.Err, worker.ErrOvertaken) || errors.Is(r.Err, registry.ErrNotFound) {
				continue // another process has started or removed it
			}
		}
		all = append(all, r)
		if req.Each != nil {
			req.Each(r)
		}
	}
	return all, nil
}

func (s *Spawner) resurrect(ctx context.Context, reg *registry.Registry, f Interrupted, req ResurrectRequest) (worker.Worker, error) {
	rec, err := reg.Get(ctx, f.Worker.ID)
	if err != nil {
		return f.Worker, err
	}
	if rec, err = s.current(ctx, reg, rec); err != nil {
		return f.Worker, err
	}
	// It is counted before it is started: what it does may bring the machine down again.
	err = reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		_, err := tx.Append(ctx, history.NewEvent(&rec, history.Resurrected, f.Why, time.Now()))
		return err
	})
	if err != nil {
		return f.Worker, err
	}
	w, err := s.Respawn(ctx, rec.ID, RespawnRequest{Resume: f.Resume, Anew: true, Warn: req.Warn, Notice: req.Notice})
	if err != nil {
		return f.Worker, err
	}
	return w, nil
}
