package notifier

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// processLimit is how long a notifier process waits.
	processLimit = 10 * time.Minute
	// tickEvery is how often it checks whether it is still needed, and whether the agent
	// has written something. It reads the screen of a quiet agent each time, and that of
	// any other once in lookEvery.
	tickEvery = time.Second
	lookEvery = 5 * time.Second
	// lockSuffix is that of its lock, which it signs.
	lockSuffix = ".notifier"
	// draftFor is how long a text must be at the prompt without a change to be taken for
	// what the agent proposes there. Nothing is typed after a person's.
	draftFor = 2 * time.Minute
)

// IsLate reports whether the holder of a notifier's lock should have ended by now.
func IsLate(h lockfile.Holder) bool { return time.Since(h.Since) > processLimit+time.Minute }

// Holder returns the process of a worker's notifier process that lives; ok is false if there is none,
// or if it has only just begun.
func (n *Notifier) Holder(id string) (h lockfile.Holder, ok bool) {
	if n.has(id) {
		h, ok = lockfile.HolderOf(n.path(id))
	}
	return h, ok && h.Process.Alive()
}

func (n *Notifier) path(id string) string { return n.Dir.LockPath(id) + lockSuffix }

func (n *Notifier) has(id string) bool { return lockfile.IsHeld(n.path(id)) }

// Run is a notifier process: it waits until the agent of a worker is at its prompt, types one line
// there about the waiting messages and tasks, and continues until none is waiting. It types
// nothing while the agent works or asks something, or while a person's text is at its
// prompt. It returns at once if another notifier process of this worker lives, and in any case when
// the worker ends, nothing is waiting any more, or ten minutes have passed.
//
// A line is typed at most once, even if processes are killed: its items are recorded as
// being brought before. The next notifier process submits a line that is left at the prompt.
func (n *Notifier) Run(ctx context.Context, workerID string) error {
	ctx, cancel := context.WithTimeout(ctx, processLimit)
	defer cancel()
	for {
		unlock, err := lockfile.Try(n.path(workerID))
		if err != nil || unlock == nil {
			return err
		}
		c := process{n: n, id: workerID}
		err = c.run(ctx)
		unlock()
		if errors.Is(err, errFinal) {
			return nil
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
		// A call that found the lock held relies on this notifier process.
		if _, needed, err := c.needed(ctx); !needed || err != nil {
			return err
		}
	}
}

// process is a notifier process that has the lock.
type process struct {
	n  *Notifier
	id string
	// file is the database that is open.
	file fs.FileInfo
	// looked is when it last looked at the screen; idle says that the agent was at its
	// prompt then.
	looked time.Time
	idle   bool
	// shown is what the screen showed then, and has shown since drawn.
	shown profile.Look
	drawn time.Time
	// draft is what was at the prompt then, and since when looks have seen that.
	draft   string
	drafted time.Time
}

func (c *process) run(ctx context.Context) error {
	if err := lockfile.Sign(c.n.path(c.id)); err != nil {
		return err
	}
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		rec, needed, err := c.needed(ctx)
		if err != nil || !needed {
			return err
		}
		if err := c.visit(ctx, rec); err != nil {
			c.n.Logger.Warn("an agent can't be notified of what is waiting", "worker", rec.Name, "error", err)
			if isFinal(err) {
				return errFinal
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// errFinal ends a notifier process that can never type anything.
var errFinal = errors.New("there is nothing to type at")

func isFinal(err error) bool {
	return errors.Is(err, swarm.ErrNotFound) || errors.Is(err, swarm.ErrUnsupported) || errors.Is(err, worker.ErrEnded)
}

// needed returns the worker's record, and whether there is anything to do. It takes the
// database that is in place: a rebuild may have put another one there.
func (c *process) needed(ctx context.Context) (rec registry.Record, needed bool, err error) {
	file, err := os.Stat(filepath.Join(string(c.n.Dir), registry.File))
	if err != nil {
		return rec, false, nil
	}
	if c.file != nil && !os.SameFile(file, c.file) {
		c.n.Store.Reopen()
	}
	c.file = file
	err = c.n.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if rec, err = tx.Get(ctx, c.id); err != nil {
			return err
		}
		if _, err := tx.Nudge(ctx, c.id); err == nil || !errors.Is(err, registry.ErrNotFound) {
			needed = true
			return err
		}
		needed, err = team.MayWake(ctx, tx, c.id)
		return err
	})
	if errors.Is(err, registry.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
		return rec, false, nil
	}
	return rec, needed && c.n.canWake(&rec), err
}

// visit checks the agent if that is due, and types the line if the agent has been at its
// prompt for a moment: agents draw their prompt between two steps, too.
func (c *process) visit(ctx context.Context, rec registry.Record) error {
	if rec.State != registry.Running {
		return nil // it is starting
	}
	quiet := time.Since(c.n.Dir.LastOutput(c.id))
	draws := quiet < display.QuietFor
	if draws && time.Since(c.looked) < lookEvery {
		return nil
	}
	return c.n.Plugins.AskOwner(ctx, &rec, false, func(p *backend.Peer) error {
		prof := c.n.Display.ProfileOf(&rec)
		if !input.CanLook(p, rec, prof) || !p.Has(swarm.CapInput) {
			return swarm.ErrUnsupported
		}
		before := c.idle
		look, err := c.look(ctx, p, rec, prof)
		if draws && before {
			quiet = lookEvery // it was there at the last look, too
		}
		if err != nil || !c.idle || quiet < max(display.QuietFor, prof.Settle(look)) {
			return err
		}
		empty := time.Since(c.drafted) < draftFor
		if empty && look.Draft != "" {
			// It may have been left by a nudge that was killed.
			if left, err := c.n.left(ctx, rec.ID); err != nil || left == "" {
				return err
			}
		}
		return c.n.nudge(ctx, p, rec, prof, quiet, empty)
	})
}

// mayType reports whether a line may be typed at the prompt of an agent in a state. One whose
// background work runs on may run a server for good. An agent at a limit or with an error
// would lose the line.
func mayType(s profile.State) bool { return s == profile.Idle || s == profile.Background }

func (c *process) look(ctx context.Context, p *backend.Peer, rec registry.Record, prof *profile.Profile) (profile.Look, error) {
	ctx, cancel := p.Within(ctx, backend.StatusLimit)
	defer cancel()
	c.looked, c.idle = time.Now(), false
	s, err := (&input.Terminal{Peer: p, Handle: rec.Handle}).Screen(ctx)
	if err != nil {
		return profile.Look{}, err
	}
	look := prof.Look(s)
	if last := c.shown; c.drawn.IsZero() || last.State != look.State || last.Question != look.Question || last.Trouble() != look.Trouble() {
		c.drawn = c.looked
	}
	if c.shown = look; look.State == profile.Idle || look.State == profile.Background {
		since := c.drawn
		if last := c.n.Dir.LastOutput(rec.ID); !last.IsZero() && last.Before(since) {
			since = last
		}
		c.idle = mayType(c.n.Display.Judge(prof, &rec, &look, since).State)
	}
	if c.drafted.IsZero() || look.Draft != c.draft {
		c.draft, c.drafted = look.Draft, c.looked
	}
	return look, nil
}
