package spawn

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

var someDefaults = Defaults{
	Tags: []string{"all"}, Retain: "1h0m0s", Resurrect: true,
	Limits:  swarm.Limits{Memory: 100, CPUs: 2, PIDs: 50, Nice: 5, IOWeight: 70, BestEffort: true},
	Sandbox: &swarm.Sandbox{Network: swarm.NetworkNone},
	Options: map[string]map[string]string{"tmux": {"session": "s", "socket": "own"}},
}

func TestDefaultsApply(t *testing.T) {
	t.Parallel()
	all := Request{
		Tags: []string{"all"}, Retain: "1h0m0s", Resurrect: true, Limits: someDefaults.Limits, Sandbox: someDefaults.Sandbox,
	}
	with := func(change func(*Request)) Request {
		r := all
		change(&r)
		return r
	}
	own := registry.Own{Memory: true, CPUs: true, PIDs: true, Nice: true, IOWeight: true, Effort: true, Sandbox: true, Resurrect: true}
	options := map[string]string{"session": "team"}
	for name, tt := range map[string]struct{ req, want Request }{
		"nothing said": {Request{}, all},
		"zero values that are meant": {
			Request{Own: own}, Request{Tags: []string{"all"}, Retain: "1h0m0s", Own: own},
		},
		"values": {
			Request{Tags: []string{"x", "all"}, Retain: "none", Limits: swarm.Limits{Memory: 7, Nice: -1}, Sandbox: &swarm.Sandbox{}},
			with(func(r *Request) {
				r.Tags, r.Retain, r.Sandbox = []string{"all", "x"}, "none", &swarm.Sandbox{}
				r.Limits.Memory, r.Limits.Nice = 7, -1
			}),
		},
		"a shell": {
			Request{Shell: &registry.Shell{}}, with(func(r *Request) { r.Shell, r.Retain, r.Resurrect = &registry.Shell{}, "", false }),
		},
		"a server": {Request{Team: "t"}, with(func(r *Request) { r.Team, r.Retain, r.Resurrect = "t", "", false })},
		"an agent": {
			Request{Team: "t", Agent: &team.Entry{}}, with(func(r *Request) { r.Team, r.Agent, r.Retain = "t", &team.Entry{}, "" }),
		},
		"a window": {
			Request{Backend: "tmux", Options: options},
			with(func(r *Request) { r.Backend, r.Options = "tmux", map[string]string{"session": "team", "socket": "own"} }),
		},
	} {
		if diff := cmp.Diff(tt.want, someDefaults.apply(tt.req)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if len(options) != 1 || len(someDefaults.Options["tmux"]) != 2 {
		t.Error("the caller's options were changed")
	}
}

func TestDefaultsTighten(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ spec, want registry.Spec }{
		"nothing chosen": {
			registry.Spec{},
			registry.Spec{Sandbox: someDefaults.Sandbox, Limits: swarm.Limits{Memory: 100, CPUs: 2, PIDs: 50, Nice: 5, IOWeight: 70}},
		},
		"tighter before": {
			registry.Spec{Sandbox: &swarm.Sandbox{}, Limits: swarm.Limits{Memory: 1, CPUs: 1, PIDs: 1, Nice: 19, IOWeight: 1}},
			registry.Spec{Sandbox: &swarm.Sandbox{}, Limits: swarm.Limits{Memory: 1, CPUs: 1, PIDs: 1, Nice: 19, IOWeight: 1}},
		},
		"chosen": {
			registry.Spec{Own: registry.Own{Memory: true, CPUs: true, PIDs: true, Nice: true, IOWeight: true, Sandbox: true}, Limits: swarm.Limits{Memory: 1000}},
			registry.Spec{Own: registry.Own{Memory: true, CPUs: true, PIDs: true, Nice: true, IOWeight: true, Sandbox: true}, Limits: swarm.Limits{Memory: 1000}},
		},
	} {
		got := tt.spec
		if err := someDefaults.tighten(&got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := someDefaults.tighten(&registry.Spec{Ralph: true, Own: registry.Own{}}); err == nil {
		t.Error("a loop is started again in a sandbox")
	}
}

// A command with the first prompt of an agent is run once: no restart gives the prompt again.
func TestRunOnceIsNotRepeated(t *testing.T) {
	t.Parallel()
	req := Request{Name: "w", Command: []string{"claude"}, Run: []string{"claude", "do it"}, Dir: "/"}
	if err := req.check(); err != nil {
		t.Fatal(err)
	}
	req.Restart.When = swarm.RestartOnFailure
	if err := req.check(); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("with a restart policy: %v", err)
	}
}
