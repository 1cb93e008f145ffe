package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

const (
	// logDir is the directory of the logs of hooks, in the state directory.
	logDir = "hooks"
	// lockName is the name of the lock of the process that runs the hooks, in there.
	lockName = "lock"
)

// Delays are the pauses before a failed command is run again; after the last one its event
// is given up.
var Delays = []time.Duration{2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}

// Options say what a [Runner] needs.
type Options struct {
	// Dir is the state directory, Home the directory in which commands run.
	Dir, Home string
	Hooks     []Hook
	// Commands runs the commands of hooks.
	Commands commands
	// Notifiers delivers events to the plugins of hooks that have one.
	Notifiers notifiers
	// Say is called with what a person should know. It may be called at the same time.
	Say func(text string)
	// Delays takes the place of [Delays]; nil: it does not.
	Delays []time.Duration
}

// commands runs the commands of hooks. A [Launcher] does, with an Input of what a command reads.
type commands interface {
	// Input returns what the command of a hook reads.
	Input(d Delivery) ([]byte, error)
	// Launch runs a command, see [Launcher.Launch].
	Launch(ctx context.Context, vars []string, c Call) (Result, error)
}

// notifiers delivers an event to a notifier plugin. [backend.Plugins] does.
type notifiers interface {
	Notify(ctx context.Context, plugin string, event swarm.Event) (swarm.NotifyAnswer, error)
}

// Runner runs hooks for the events of one state directory.
type Runner struct {
	opts   Options
	ledger ledger
	wake   []chan struct{}
	unlock func()
}

// New returns a runner that has done nothing yet.
func New(o Options) *Runner {
	if o.Delays == nil {
		o.Delays = Delays
	}
	r := &Runner{opts: o, ledger: ledger{dir: o.Dir}}
	for range o.Hooks {
		r.wake = append(r.wake, make(chan struct{}, 1))
	}
	return r
}

// LogPath returns the path of the log of a hook.
func LogPath(dir, name string) string { return filepath.Join(dir, logDir, name+".log") }

// Wake notifies the runner that there may be new events. It may be called at any time.
func (r *Runner) Wake() {
	for _, c := range r.wake {
		wake.Up(c)
	}
}

// Prepare makes the runner the one that runs the hooks, if no other process does, and gives
// new hooks their cursor: they are run for all events after this call. The caller calls Run
// or Close after it.
func (r *Runner) Prepare(ctx context.Context) error {
	unlock, err := lockfile.Try(r.lockPath())
	if err != nil || unlock == nil {
		return err
	}
	r.unlock = unlock
	return errors.Join(lockfile.Sign(r.lockPath()), r.begin(ctx))
}

// Close gives back what Prepare took. It must not be called concurrently with Run.
func (r *Runner) Close() error {
	err := r.ledger.close()
	if r.unlock != nil {
		r.unlock()
		r.unlock = nil
	}
	return err
}

// Run runs the hooks until ctx ends. While another process runs them it waits for the end of
// that process.
func (r *Runner) Run(ctx context.Context) error {
	for logged := false; r.unlock == nil; logged = true {
		signed, _ := lockfile.HolderOf(r.lockPath())
		holder := signed.Process
		if !logged {
			r.opts.Say(otherText(holder))
		}
		if holder.PID != 0 {
			_ = proc.AwaitEnd(ctx, holder)
		}
		if err := r.Prepare(ctx); err != nil {
			return err
		}
		if r.unlock != nil {
			break
		}
		// It is about to sign, can't be waited for, or is in another PID namespace.
		if err := sleep.For(ctx, time.Second); err != nil {
			return err
		}
	}
	var all sync.WaitGroup
	for i := range r.opts.Hooks {
		q := &queue{Runner: r, hook: &r.opts.Hooks[i], wake: r.wake[i]}
		all.Go(func() { q.run(ctx) })
	}
	all.Wait()
	return ctx.Err()
}

func otherText(holder proc.Identity) string {
	which := "another 'swarm watch --hooks'"
	if holder.PID != 0 {
		which += fmt.Sprintf(" (pid %d)", holder.PID)
	}
	return which + " runs the hooks; this one takes over when that ends"
}

func (r *Runner) lockPath() string { return filepath.Join(r.opts.Dir, logDir, lockName) }

// begin sets the cursors of new hooks to the end of the history, and forgets the hooks that
// are configured no more.
func (r *Runner) begin(ctx context.Context) error {
	return r.ledger.use(ctx, func(reg *registry.Registry, _ int) error {
		known, err := reg.HookNames(ctx)
		if err != nil {
			return err
		}
		last, err := reg.LastEvent(ctx)
		if err != nil {
			return err
		}
		return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			for _, h := range r.opts.Hooks {
				if slices.Contains(known, h.Name) {
					continue
				}
				if err := tx.SetHookCursor(ctx, h.Name, last); err != nil {
					return err
				}
			}
			for _, name := range known {
				if slices.ContainsFunc(r.opts.Hooks, func(h Hook) bool { return h.Name == name }) {
					continue
				}
				if err := tx.ForgetHook(ctx, name); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (r *Runner) launch(ctx context.Context, h *Hook, d Delivery) (Result, error) {
	input, err := r.opts.Commands.Input(d)
	if err != nil {
		return Result{}, err
	}
	vars := []string{
		"SWARM_HOOK=" + h.Name, "SWARM_EVENT_ID=" + EventID(d.Event), "SWARM_EVENT_KIND=" + string(d.Event.Kind),
		"SWARM_EVENT_WORKER=" + d.Event.Worker, fmt.Sprintf("SWARM_EVENT_ATTEMPT=%d", d.Attempt),
	}
	return r.opts.Commands.Launch(ctx, vars, Call{
		Command: h.Command, Dir: r.opts.Home, Input: input, Log: LogPath(r.opts.Dir, h.Name),
		Timeout: cmp.Or(h.Timeout, DefaultTimeout),
		Title:   fmt.Sprintf("%s (attempt %d) %s", EventID(d.Event), d.Attempt, d.Event),
	})
}
