package spawn

import (
	"cmp"
	"maps"
	"slices"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Defaults are the settings of workers that the config has for all of them. A worker has them
// however it is started: [Spawner.plan] and [Spawner.planAgain], below all callers, apply them.
// The zero value says nothing.
type Defaults struct {
	// Tags are given to every worker, in addition to its own.
	Tags []string
	// Retain is the retention policy of workers that belong to no team and no session.
	Retain string
	// Resurrect is for workers that no process and no session owns.
	Resurrect bool
	Limits    swarm.Limits
	// Sandbox is nil for none.
	Sandbox *swarm.Sandbox
	// Options are options of backends, by the name of the backend.
	Options map[string]map[string]string
}

// apply returns the request with the defaults for all that it leaves open.
func (d Defaults) apply(req Request) Request {
	req.Limits = d.limits(req.Limits, req.Own)
	if req.Sandbox == nil && !req.Own.Sandbox {
		req.Sandbox = d.Sandbox.Clone()
	}
	req.Tags = Unique(slices.Concat(d.Tags, req.Tags))
	if req.Team == "" && req.Agent == nil && req.Shell == nil {
		req.Retain = cmp.Or(req.Retain, d.Retain)
	}
	if !req.Own.Resurrect && req.Shell == nil && req.Owner == nil && (req.Team == "" || req.Agent != nil) {
		req.Resurrect = req.Resurrect || d.Resurrect
	}
	if more := d.Options[req.Backend]; len(more) > 0 {
		options := maps.Clone(more)
		maps.Copy(options, req.Options)
		req.Options = options
	}
	return req
}

// limits returns limits with the defaults for those that are not set.
func (d Defaults) limits(l swarm.Limits, own registry.Own) swarm.Limits {
	fill(&l.Memory, d.Limits.Memory, own.Memory)
	fill(&l.CPUs, d.Limits.CPUs, own.CPUs)
	fill(&l.PIDs, d.Limits.PIDs, own.PIDs)
	fill(&l.Nice, d.Limits.Nice, own.Nice)
	fill(&l.IOWeight, d.Limits.IOWeight, own.IOWeight)
	if !own.Effort {
		l.BestEffort = l.BestEffort || d.Limits.BestEffort
	}
	return l
}

func fill[V comparable](v *V, otherwise V, own bool) {
	if !own {
		*v = cmp.Or(*v, otherwise)
	}
}

// tighten applies the defaults to a worker that is started again: what it was spawned with
// stays, and what the user's config now says more strictly holds as well, unless it was chosen
// for this worker.
func (d Defaults) tighten(spec *registry.Spec) error {
	own, l := spec.Own, &spec.Limits
	lower(&l.Memory, d.Limits.Memory, own.Memory)
	lower(&l.CPUs, d.Limits.CPUs, own.CPUs)
	lower(&l.PIDs, d.Limits.PIDs, own.PIDs)
	lower(&l.IOWeight, d.Limits.IOWeight, own.IOWeight)
	if !own.Nice {
		l.Nice = max(l.Nice, d.Limits.Nice)
	}
	if spec.Sandbox != nil || own.Sandbox || d.Sandbox == nil {
		return nil
	}
	spec.Sandbox = d.Sandbox.Clone()
	if spec.Ralph {
		return errLoopInSandbox()
	}
	return nil
}

// lower puts a limit in place of a looser one, or of none.
func lower[V cmp.Ordered](v *V, limit V, own bool) {
	var none V
	if !own && limit != none && (*v == none || *v > limit) {
		*v = limit
	}
}

func errLoopInSandbox() error {
	return worker.Invalid("a loop can't run in a sandbox: it needs the state directory, which a sandbox hides; --sandbox=false runs it without one")
}
