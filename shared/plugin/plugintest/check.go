package plugintest

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/notifiertest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/toolstest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest"
)

// T is what a case needs of a [*testing.T].
type T = harness.T

// Outcome is the outcome of a case.
type Outcome = harness.Outcome

// The outcomes, see [harness.Outcome].
const (
	OK      = harness.OK
	Failed  = harness.Failed
	Skipped = harness.Skipped
	NotRun  = harness.NotRun
)

// Result is the result of one case.
type Result = harness.Result

// Report is the result of a [Check].
type Report struct {
	// Plugin is the plugin's description; the zero value if the plugin did not return it.
	Plugin client.Info
	// Results are the results of all cases, in a fixed order. A plugin that can't be
	// started has only the results of the cases about its start.
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
	// Only selects the cases to run by name; nil runs all.
	Only func(name string) bool
	// Parallel is how many cases run at the same time; 0: one.
	Parallel int
	// Base is described at [workspacetest.Workspace], for plugins of that kind.
	Base func(t T) string
	// Each, if not nil, is called with every result as soon as it and all earlier results
	// are complete, never concurrently.
	Each func(Result)
}

// Check runs the cases of [backendtest.RunBinary], or of [workspacetest.RunBinary] or
// [notifiertest.RunBinary] for a plugin of that kind, and those of [toolstest.RunBinary] for a plugin of any kind that offers tools,
// outside of a test. When ctx ends, running cases are cut off and cleaned up, and Check returns: they
// and the cases that had not begun are [NotRun].
func Check(ctx context.Context, b backendtest.Binary, o CheckOptions) Report {
	var r Report
	p := b.Program()
	if r.Results = o.run(ctx, p.StartCases()); r.Count(Failed) > 0 || r.Count(NotRun) > 0 {
		return r // the other cases need a started plugin
	}
	var items []harness.Item
	connect := harness.Item{
		Name: connectCase, Rule: "a host can connect to the plugin, and the plugin accepts its settings and has a known kind",
		Run: func(t T) { t.Helper(); r.Plugin, items = o.probe(t, b) },
	}
	result := connect.Result(ctx)
	if result.Outcome != OK || o.wants(connectCase) {
		r.Results = append(r.Results, result)
		o.report(result)
	}
	if result.Outcome == OK {
		r.Results = append(r.Results, o.run(ctx, slices.Concat(p.LifeCases(), items))...)
	}
	return r
}

const connectCase = "connect"

func (o CheckOptions) wants(name string) bool { return o.Only == nil || o.Only(name) }

func (o CheckOptions) probe(t T, b backendtest.Binary) (client.Info, []harness.Item) {
	p := b.Program().Start(t)
	var items []harness.Item
	switch p.Info().Kind {
	case client.KindTools:
	case client.KindNotifier:
		n := notifiertest.Binary{Path: b.Path, Args: b.Args, Config: b.Config, Env: b.Env}
		items = n.Items(t)
	case client.KindWorkspace:
		w := workspacetest.Binary{Path: b.Path, Args: b.Args, Config: b.Config, Env: b.Env, Base: o.Base}
		items = w.Items(p.Client)
	default:
		items = b.Items(t, p)
	}
	if p.Tools() != nil {
		tools := toolstest.Binary{Path: b.Path, Args: b.Args, Config: b.Config, Env: b.Env}
		items = append(items, slices.DeleteFunc(tools.Items(t), func(i harness.Item) bool {
			return slices.ContainsFunc(items, func(other harness.Item) bool { return other.Name == i.Name })
		})...)
	}
	return p.Info(), items
}

func (o CheckOptions) run(ctx context.Context, items []harness.Item) []Result {
	wanted := slices.DeleteFunc(slices.Clone(items), func(i harness.Item) bool { return !o.wants(i.Name) })
	return harness.Run(ctx, wanted, o.Parallel, o.report)
}

func (o CheckOptions) report(r Result) {
	if o.Each != nil {
		o.Each(r)
	}
}
