package plugintest

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest"
)

// T is what a case needs of a [*testing.T].
type T = harness.T

// Outcome is what came of a case.
type Outcome = harness.Outcome

// The outcomes, see [harness.Outcome].
const (
	OK      = harness.OK
	Failed  = harness.Failed
	Skipped = harness.Skipped
)

// Result is what came of one case.
type Result = harness.Result

// Report is what came of a [Check].
type Report struct {
	// Plugin is the plugin's description of itself; the zero value if it could not be
	// asked.
	Plugin plugin.Info
	// Results are those of all cases, in a fixed order. A plugin that can't be
	// started has only those of the cases about that.
	Results []Result
}

// Count returns how many cases had an outcome.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// CheckOptions are the options of a check. The zero value checks everything, one case after
// the other.
type CheckOptions struct {
	// Only selects the cases to run by name; nil runs all. The others are left out.
	Only func(name string) bool
	// Parallel is how many cases run at the same time; 0: one.
	Parallel int
	// Base is that of a [workspacetest.Workspace], for plugins of that kind.
	Base func(t T) string
	// Each, if it is not nil, is called with every result as soon as it and those before it
	// are complete, never concurrently.
	Each func(Result)
}

// Check runs the cases of [backendtest.RunBinary], or of [workspacetest.RunBinary] if the plugin
// is of that kind, outside of a test. When ctx ends, running cases fail and are cleaned up, and Check
// returns.
func Check(ctx context.Context, b backendtest.Binary, o CheckOptions) Report {
	var r Report
	p := b.Program()
	if r.Results = o.run(ctx, p.StartCases()); r.Count(Failed) > 0 {
		return r // nothing else is of use
	}
	var items []harness.Item
	connect := harness.Item{
		Name: connectCase, Rule: "a host can connect to the plugin, and the plugin accepts its settings and has a known kind",
		Run: func(t T) { t.Helper(); r.Plugin, items = o.probe(t, b) },
	}
	result := connect.Result(ctx)
	if result.Outcome == Failed || o.wants(connectCase) {
		r.Results = append(r.Results, result)
		o.tell(result)
	}
	if result.Outcome != Failed {
		r.Results = append(r.Results, o.run(ctx, slices.Concat(p.LifeCases(), items))...)
	}
	return r
}

const connectCase = "connect"

func (o CheckOptions) wants(name string) bool { return o.Only == nil || o.Only(name) }

func (o CheckOptions) probe(t T, b backendtest.Binary) (plugin.Info, []harness.Item) {
	p := b.Program().Start(t)
	if p.Backend() == nil {
		w := workspacetest.Binary{Path: b.Path, Args: b.Args, Config: b.Config, Env: b.Env, Base: o.Base}
		return p.Info(), w.Items(p.Client)
	}
	return p.Info(), b.Items(t, p)
}

func (o CheckOptions) run(ctx context.Context, items []harness.Item) []Result {
	wanted := slices.DeleteFunc(slices.Clone(items), func(i harness.Item) bool { return !o.wants(i.Name) })
	return harness.Run(ctx, wanted, o.Parallel, o.tell)
}

func (o CheckOptions) tell(r Result) {
	if o.Each != nil {
		o.Each(r)
	}
}
