package notifier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"syscall"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Verb is the argument with which the host's executable becomes a notifier process; the
// id of the worker follows.
const Verb = rundir.NotifierMark

// Wake starts a notifier process for each agent of a team for which something is waiting and whose
// screen is known, unless one is there, see [Notifier.Run]; an empty name means all teams. It
// returns the members who have a notifier process. It waits for nothing and starts no plugin.
// Failures are only logged, since the messages stay and every later call tries again.
//
// If the host is quiet it does nothing.
func (n *Notifier) Wake(ctx context.Context, teamName string) (members []string) {
	if n.Quiet {
		return nil
	}
	sleepers, err := n.sleepers(ctx, teamName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.Logger.Warn("what is waiting for agents can't be read", "error", err)
	}
	for _, s := range sleepers {
		if !n.has(s.rec.ID) {
			if err := n.start(ctx, s.rec.ID); err != nil {
				n.Logger.Warn("a notifier process can't be started", "worker", s.rec.Name, "error", err)
				continue
			}
		}
		if s.member != "" {
			members = append(members, s.member)
		}
	}
	return members
}

// sleeper is a member for whom something is waiting, and its worker. It has no name if
// there is only a line that a notifier process which was killed has left.
type sleeper struct {
	member string
	rec    registry.Record
}

// sleepers returns the members of a team, or of all, that may be woken.
func (n *Notifier) sleepers(ctx context.Context, teamName string) (all []sleeper, err error) {
	err = n.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		all = nil
		teams, _, err := tx.Teams(ctx)
		if err != nil {
			return err
		}
		for _, t := range teams {
			if teamName != "" && t.Name != teamName {
				continue
			}
			members, err := tx.ToWake(ctx, t.Name)
			if err != nil {
				return err
			}
			for _, m := range members {
				worker, err := team.WorkerOf(ctx, tx, &t, m)
				if err != nil {
					return err
				}
				rec, err := tx.Get(ctx, worker)
				if errors.Is(err, registry.ErrNotFound) {
					continue // a person, or a member that has left the team
				}
				if err != nil {
					return err
				}
				all = append(all, sleeper{m, rec})
			}
		}
		left, err := tx.Nudges(ctx)
		for _, id := range left {
			known := slices.ContainsFunc(all, func(s sleeper) bool { return s.rec.ID == id })
			if rec, err := tx.Get(ctx, id); err == nil && !known {
				all = append(all, sleeper{"", rec})
			}
		}
		return err
	})
	return slices.DeleteFunc(all, func(s sleeper) bool { return !n.canWake(&s.rec) }), err
}

// canWake reports whether, by its record, the agent of a worker can be given a line on its
// terminal.
func (n *Notifier) canWake(rec *registry.Record) bool {
	if rec.State == registry.Stopped || rec.NoScreen {
		return false
	}
	p := n.Display.ProfileOf(rec)
	return deliver.Supports(p) && !p.Headless(rec.Command)
}

// start starts a notifier process, which continues when this process has ended.
func (n *Notifier) start(ctx context.Context, id string) error {
	if n.Executable == "" {
		return fmt.Errorf("%w: the path of swarm is not known", swarm.ErrUnsupported)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), n.Executable, Verb, id)
	cmd.Dir = "/" // not in a workspace that may have to go
	// The mark keeps it out of the worker that the caller runs in, see
	// [rundir.IsHelper].
	cmd.Env = append(caller.WorkerEnv(n.Env),
		swarm.EnvDir+"="+string(n.Dir), swarm.EnvShim+"="+rundir.NotifierMark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	// A process that lives longer than the notifier process has to take note of its end.
	go func() { _ = cmd.Wait() }()
	return nil
}
