package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

var _ remote.Worktrees = (*Backend)(nil)

// Create makes the worktree of a worker over there. If the connection breaks meanwhile, the
// worktree is looked for over a new one, and made only if it does not exist.
func (b *Backend) Create(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	c, err := b.config.with(spec.Options)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	l := b.link(c.Host)
	s, err := l.get(ctx)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	start := remote.Start{Attempt: 1, Host: c.Host, Origin: s.origin}
	if start.Owner, err = b.control.noteStart(spec.ID, start); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	create := func(start remote.Start) (_ swarm.WorkspaceRef, err error) {
		if spec.Options, err = start.Options(nil); err != nil {
			return swarm.WorkspaceRef{}, err
		}
		return call(ctx, l, func(s *session) (swarm.WorkspaceRef, error) {
			ref, err := s.workspace.Create(ctx, spec)
			return madeOn(c.Host, s.origin, ref, err)
		})
	}
	ref, err := create(start)
	if errors.Is(err, errBroken) {
		ref, err = settle(ctx, start, func(start remote.Start) (swarm.WorkspaceRef, error) {
			return findWorkspace(ctx, l, spec, start)
		}, create)
	}
	return ref, on(l, err)
}

// findWorkspace looks for a worktree, and gives up the attempts to make it before the one in start.
func findWorkspace(ctx context.Context, l *link, spec swarm.WorkspaceSpec, start remote.Start) (_ swarm.WorkspaceRef, err error) {
	if spec.Options, err = start.Options(nil); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	return again(ctx, l, func(s *session) (swarm.WorkspaceRef, error) {
		ref, err := s.workspace.FindWorkspace(ctx, spec)
		return madeOn(start.Host, s.origin, ref, err)
	})
}

// madeOn returns the reference of a worktree as this side keeps it, if the call for it was
// successful. Later calls go to the host that the reference names, so that is the one that was
// asked, whatever its answer says. The origin has to be the connection's.
func madeOn(host string, origin remote.Origin, ref swarm.WorkspaceRef, err error) (swarm.WorkspaceRef, error) {
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	if said, err := remote.OriginOf(ref); err != nil || said != origin {
		return swarm.WorkspaceRef{}, fmt.Errorf("%w: the answer about worktree %s is not from the machine that the connection was made to",
			swarm.ErrUnavailable, ref.Path)
	}
	ref.Host = host
	return ref, nil
}

// FindWorkspace returns the worktree of a worker on the host where it was to be made, whatever
// host the settings name by now.
func (b *Backend) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	l, start, err := b.started(spec.ID, spec.Options)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	ref, err := findWorkspace(ctx, l, spec, start)
	return ref, on(l, err)
}

func (b *Backend) hostOf(host string) (*link, error) {
	if !validHost(host) {
		return nil, fmt.Errorf("%w: '%s' can't be a host", swarm.ErrInvalidSpec, host)
	}
	return b.link(host), nil
}

func (b *Backend) Inspect(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	l, err := b.hostOf(ref.Host)
	if err != nil {
		return swarm.WorkspaceState{}, err
	}
	state, err := again(ctx, l, func(s *session) (swarm.WorkspaceState, error) {
		return s.workspace.Inspect(ctx, ref, o)
	})
	return state, on(l, err)
}

// Remove removes a worktree over there, or says why it stays. It is asked again if the connection
// breaks.
func (b *Backend) Remove(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.RemoveResult, error) {
	l, err := b.hostOf(ref.Host)
	if err != nil {
		return swarm.RemoveResult{}, err
	}
	calls := 0
	var before []swarm.SavedWork // than the first call
	listed := false
	res, err := again(ctx, l, func(s *session) (swarm.RemoveResult, error) {
		far := s.workspace
		if !listed {
			var err error
			if before, err = far.Rescue(ctx, swarm.RescueRequest{Base: ref.Base}); errors.Is(err, client.ErrPluginGone) {
				return swarm.RemoveResult{}, err
			}
			listed = true // if it failed, too much is named rather than too little
		}
		calls++
		res, err := far.Remove(ctx, ref, o)
		if err != nil || res.Kept != nil || len(res.Rescues) > 0 || calls == 1 {
			return res, err
		}
		// The call before may have saved work, and its answer was lost.
		works, err := far.Rescue(ctx, swarm.RescueRequest{Base: ref.Base})
		if errors.Is(err, client.ErrPluginGone) {
			return res, err
		}
		res.Rescues = savedSince(before, works, ref.Name)
		return res, nil
	})
	return res, on(l, err)
}

// savedSince returns the saved work of a worker that was not there before. Earlier workers of its
// name may have left some.
func savedSince(before, now []swarm.SavedWork, name string) (rescues []swarm.Rescue) {
	for _, w := range now {
		isOld := slices.ContainsFunc(before, func(b swarm.SavedWork) bool { return b.Ref == w.Ref })
		if w.Name == name && !isOld {
			rescues = append(rescues, swarm.Rescue{Ref: w.Ref})
		}
	}
	return rescues
}

// Rescue finds, restores or drops saved work of a repository over there. Only a search is
// repeated.
func (b *Backend) Rescue(ctx context.Context, req swarm.RescueRequest) (works []swarm.SavedWork, err error) {
	l, err := b.hostOf(req.Host)
	if err != nil {
		return nil, err
	}
	rescue := func(s *session) ([]swarm.SavedWork, error) { return s.workspace.Rescue(ctx, req) }
	if req.Action == swarm.RescueList {
		works, err = again(ctx, l, rescue)
	} else {
		works, err = call(ctx, l, rescue)
	}
	for i := range works {
		works[i].Host = req.Host
	}
	return works, on(l, err)
}

// Diff compares a worktree over there with its beginning. A summary does not wait for a host
// that is silent.
func (b *Backend) Diff(ctx context.Context, ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
	l, err := b.hostOf(ref.Host)
	if err != nil {
		return swarm.Diff{}, err
	}
	limited := ctx
	if o.Summary {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, l.silence.limit())
		defer cancel()
	}
	diff, err := again(limited, l, func(s *session) (swarm.Diff, error) { return s.workspace.Diff(limited, ref, o) })
	if err != nil {
		return swarm.Diff{}, on(l, err)
	}
	diff.Command, diff.Env, diff.Unset = nil, nil, nil
	if o.Summary {
		return diff, nil
	}
	args, err := l.shows(true, "diff", remote.Shown{Ref: ref, Colour: o.Colour})
	if err == nil {
		diff.Command = append([]string{"sh", "-c", onTerminal, "sh", l.client.config.Program}, args...)
		diff.Unset = l.client.said().unsent
	}
	return diff, err
}

// onTerminal runs a program with a terminal over there if there is one here; the program's first
// argument is an option.
const onTerminal = `p=$1; shift; if [ -t 0 ] && [ -t 1 ]; then exec "$p" -o RequestTTY=force "$@"; else exec "$p" -n -o RequestTTY=no "$@"; fi`
