package spawn

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// MaxPrevious is how many earlier incarnations a worker remembers, and keeps the
// run directories of.
const MaxPrevious = 10

func (s *Spawner) planRespawn(old registry.Record, req RespawnRequest) (*plan, error) {
	p, err := s.planAgain(old, req.As)
	if err != nil {
		return nil, err
	}
	p.req.Progress = req.Progress
	rec := &p.rec
	if rec.Owner != nil && !caller.OwnerLives(*rec.Owner) {
		rec.Owner = nil // it would be ended at once
	}
	ids := append(slices.Clone(old.Previous), old.ID)
	p.place, rec.Previous = old.ID, ids[max(0, len(ids)-MaxPrevious):]
	if req.CleanFirst {
		p.former = old.Workspace
	} else {
		p.keepWorkspace(old)
	}
	return p, nil
}

// planAgain plans the start of a worker as its record or the request says.
func (s *Spawner) planAgain(old registry.Record, as *Request) (*plan, error) {
	if as != nil && old.Agent != "" {
		return nil, worker.Invalid("worker '%s' is an agent of team '%s'", old.Name, old.Team)
	}
	if as != nil {
		if as.Name != old.Name {
			return nil, worker.Invalid("worker '%s' cannot be respawned as '%s'", old.Name, as.Name)
		}
		return s.plan(*as)
	}
	p := &plan{
		rec: registry.Record{Spec: old.Spec, State: registry.Starting, Step: registry.StepBackend},
		// The output of a background shell is read as it is.
		req: Request{Transcript: old.Shell != nil, DirGiven: true},
	}
	if err := s.Defaults.tighten(&p.rec.Spec); err != nil {
		return nil, err
	}
	if old.Agent != "" {
		p.token = caller.NewToken()
	}
	now := time.Now()
	p.rec.ID, p.rec.Created = statedir.NewID(now), now
	var err error
	if p.backend, err = s.Plugins.Entry(old.Backend, old.Plugin); err != nil {
		return nil, err
	}
	if p.rec.Ask == nil && old.Workspace != nil {
		ws := old.Workspace
		p.rec.Ask = &registry.WorkspaceAsk{Plugin: s.DefaultWorkspace, Base: ws.Base, Branch: ws.Branch, Parent: filepath.Dir(ws.Path), Away: ws.Host != ""}
	}
	if ask := p.rec.Ask; ask != nil {
		if p.workspace, err = s.Plugins.WorkspaceEntry(&p.rec); err != nil {
			return nil, err
		}
		p.rec.Step, p.rec.Dir = registry.StepWorkspace, ask.Base
		if old.Workspace != nil && !ask.Away && backend.IsGone(ask.Base) {
			// It was a directory in the repository, which is still there.
			again := *ask
			again.Base = old.Workspace.Base
			p.rec.Ask, p.rec.Dir = &again, again.Base
		}
	}
	return p, nil
}

// keepWorkspace has the worker begin in the workspace that it had, if it exists
// and is the requested one.
func (p *plan) keepWorkspace(old registry.Record) {
	ws := old.Workspace
	if ws == nil || p.rec.Ask == nil || !sameWorkspace(p.rec.Ask, old.Ask) || backend.IsMissing(ws) {
		return
	}
	if ws.Host != "" && (p.rec.Backend != old.Backend || !maps.Equal(p.rec.Options, old.Options)) {
		return // the worker may be on another machine now
	}
	ws, ok := counterpart(ws, old.Ask, p.rec.Ask)
	if !ok {
		return
	}
	p.rec.Workspace, p.rec.Dir, p.rec.Step = ws, backend.DirIn(p.rec.Ask, ws), registry.StepBackend
}

// counterpart returns the workspace with the directory in it that corresponds to the base that
// is asked for now, which may be another directory of the same repository than before.
func counterpart(ws *swarm.WorkspaceRef, before, now *registry.WorkspaceAsk) (*swarm.WorkspaceRef, bool) {
	if before == nil || before.Base == now.Base || !filepath.IsAbs(ws.Base) {
		return ws, true
	}
	// The top of the working tree that the base was in before.
	top := filepath.Clean(before.Base)
	if ws.Dir != "" && ws.Dir != "." {
		above, in := strings.CutSuffix(top, "/"+filepath.Clean(ws.Dir))
		if !in {
			above = ws.Base
		}
		top = above
	}
	for _, root := range []string{top, ws.Base} {
		rel, err := filepath.Rel(root, now.Base)
		if err == nil && filepath.IsLocal(rel) {
			moved := *ws
			moved.Dir = rel
			return &moved, true
		}
	}
	return nil, false
}

// sameWorkspace reports whether the workspace that was made for before does for
// now.
func sameWorkspace(now, before *registry.WorkspaceAsk) bool {
	if before == nil {
		return true // its record does not say how it was made
	}
	a, b := *now, *before
	a.Base, b.Base = "", "" // it may be another directory of the same repository
	a.Within, b.Within = false, false
	a.Away, b.Away = false, false // the backend decides it
	return reflect.DeepEqual(a, b)
}

// adopt takes note of what became of the worker whose place this one takes: now is its
// last record, replaces its record in the registry, nil if that is gone.
func (p *plan) adopt(now registry.Record, replaces *registry.Record) {
	p.replaces = replaces
	if p.former != nil {
		p.former = now.Workspace
	}
	if p.rec.Workspace != nil && now.Workspace == nil {
		p.makeAgain() // it was removed meanwhile
	}
}

// makeAgain has the workspace made that the worker was to begin in.
func (p *plan) makeAgain() {
	p.rec.Workspace, p.rec.Dir, p.rec.Step = nil, p.rec.Ask.Base, registry.StepWorkspace
}

// lookAway asks whether the workspace on another machine is there that the worker is to begin
// in.
func (s *Spawner) lookAway(ctx context.Context, p *plan) error {
	if p.rec.Workspace == nil || p.rec.Workspace.Host == "" {
		return nil
	}
	state, err := s.Plugins.InspectWorkspace(ctx, &p.rec, swarm.RemoveOptions{Vacant: true})
	if err == nil && state.Missing {
		p.makeAgain()
		p.maker = p.owner
	}
	return err
}

func (p *plan) enter(ctx context.Context, tx *registry.Tx) error {
	if p.replaces != nil {
		_, err := tx.Get(ctx, p.replaces.ID)
		if errors.Is(err, registry.ErrNotFound) {
			p.replaces = nil // its time had just run out
		} else if err = errors.Join(err, tx.Delete(ctx, p.replaces.ID)); err != nil {
			return err
		}
	}
	p.rec.Replaces = p.replaces
	if err := tx.Insert(ctx, &p.rec); err != nil {
		return err
	}
	return p.join(ctx, tx)
}

// join enters the agent that the worker of a plan is to be into its team, in the change that
// enters its record: an agent may call before its spawn ends.
func (p *plan) join(ctx context.Context, tx *registry.Tx) (err error) {
	rec, now := &p.rec, time.Now()
	if p.place != "" {
		if err := team.Moved(ctx, tx, p.place, rec.ID); err != nil {
			return err
		}
	}
	switch {
	case p.req.Agent != nil:
		_, p.warning, err = team.Join(ctx, tx, *p.req.Agent, rec.ID, rec.Name, caller.HashToken(p.token), now)
	case rec.Agent != "":
		err = team.Rejoin(ctx, tx, rec.Agent, rec.ID, rec.Name, caller.HashToken(p.token), now)
	case rec.Team != "":
		_, err = team.Get(ctx, tx, rec.Team)
	}
	return err
}
