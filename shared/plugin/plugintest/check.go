package plugintest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
)

// caseLimit is how long one case may take in a [Check].
const caseLimit = 3 * time.Minute

// Outcome is what came of a case. Readers keep outcomes that they do not know.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"      // the rule was kept
	Failed  Outcome = "failed"  // it was broken, or could not be checked
	Skipped Outcome = "skipped" // it says nothing about this plugin
)

// Result is what came of one case.
type Result struct {
	// Name is that of the case, Rule the sentence of the contract.
	Name, Rule string
	Outcome    Outcome
	// Why says why the case was skipped; empty otherwise.
	Why string
	// Problems are the observed violations of the rule, in order; empty unless the case
	// failed.
	Problems []string
	// Log holds the plugin's log lines during the case, at the level of a warning or above.
	Log []string
	// Took is how long the case took; 0 if it was skipped.
	Took time.Duration
}

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
	// Base is that of a [Workspace], for plugins of that kind.
	Base func(t T) string
	// Each, if it is not nil, is called with every result as soon as it and those before it
	// are complete, never concurrently.
	Each func(Result)
}

// Check runs the cases of [RunBinary], or of [RunWorkspaceBinary] if the plugin is of that
// kind, outside of a test. When ctx ends, running cases fail and are cleaned up, and Check
// returns.
func Check(ctx context.Context, b Binary, o CheckOptions) Report {
	var r Report
	p := b.program()
	if r.Results = o.run(ctx, p.items(startCases())); r.Count(Failed) > 0 {
		return r // nothing else is of use
	}
	var items []item
	connect := item{
		name: connectCase, rule: "a host can connect to the plugin, which takes its settings and has a kind that there is",
		run: func(t T) { t.Helper(); r.Plugin, items = b.probe(t, o) },
	}
	result := connect.result(ctx)
	if result.Outcome == Failed || o.wants(connectCase) {
		r.Results = append(r.Results, result)
		o.tell(result)
	}
	if result.Outcome != Failed {
		r.Results = append(r.Results, o.run(ctx, slices.Concat(p.items(lifeCases()), items))...)
	}
	return r
}

// connectCase is the name of the case that reads a plugin's description.
const connectCase = "connect"

func (o CheckOptions) wants(name string) bool { return o.Only == nil || o.Only(name) }

// probe reads the plugin's description and returns the cases about it.
func (b Binary) probe(t T, o CheckOptions) (plugin.Info, []item) {
	p := b.program().start(t)
	if p.Workspace() != nil {
		w := WorkspaceBinary{Path: b.Path, Args: b.Args, Config: b.Config, Env: b.Env, Base: o.Base}
		return p.Info(), workspaceItems(w.Base, w.open, workspaceSubject{p.Workspace(), p.Info().Capabilities})
	}
	s := remote(t, p.Client)
	s.plugin = p
	return p.Info(), b.items(s)
}

// run runs the cases that are wanted.
func (o CheckOptions) run(ctx context.Context, items []item) []Result {
	var wanted []item
	for _, i := range items {
		if o.wants(i.name) {
			wanted = append(wanted, i)
		}
	}
	results := make([]Result, len(wanted))
	done := make([]chan struct{}, len(wanted))
	for n := range done {
		done[n] = make(chan struct{})
	}
	var together, alone []int
	for n, i := range wanted {
		if i.alone {
			alone = append(alone, n)
		} else {
			together = append(together, n)
		}
	}
	var running sync.WaitGroup
	running.Go(func() {
		for _, part := range []struct {
			places   []int
			parallel int
		}{{together, max(1, o.Parallel)}, {alone, 1}} {
			inParallel(part.parallel, part.places, func(n int) {
				results[n] = wanted[n].result(ctx)
				close(done[n])
			})
		}
	})
	for n := range wanted {
		<-done[n]
		o.tell(results[n])
	}
	running.Wait()
	return results
}

// inParallel calls f for each place, in their order and several at a time, and
// waits for all.
func inParallel(most int, places []int, f func(n int)) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range most {
		running.Go(func() {
			for at := next.Add(1) - 1; at < int64(len(places)); at = next.Add(1) - 1 {
				f(places[at])
			}
		})
	}
	running.Wait()
}

func (o CheckOptions) tell(r Result) {
	if o.Each != nil {
		o.Each(r)
	}
}

// result runs the case.
func (i item) result(ctx context.Context) Result {
	r := Result{Name: i.name, Rule: i.rule, Outcome: OK, Why: i.skip}
	if i.skip != "" {
		r.Outcome = Skipped
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	start := time.Now()
	r.Problems, r.Log = record(ctx, i.name, i.run)
	r.Took = time.Since(start)
	if len(r.Problems) == 0 {
		return r
	}
	r.Outcome = Failed
	for n, p := range r.Problems {
		// Of the rule it is known already which one it is.
		r.Problems[n] = strings.TrimPrefix(p, "broken: "+i.rule+"\n\t")
	}
	return r
}
