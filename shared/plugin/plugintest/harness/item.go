package harness

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Item is a case together with its subject.
type Item struct {
	Name, Rule string
	// Skip is the reason why the rule does not apply here; empty if the case is run.
	Skip string
	// Alone says that the case needs the machine for itself: others next to it would time
	// out.
	Alone bool
	Run   func(t T)
}

// RunTests runs items as subtests, in parallel if possible, and reports whether those that
// did not run in parallel passed.
func RunTests(t *testing.T, items []Item, parallel bool) bool {
	t.Helper()
	ok := true
	for _, i := range items {
		if i.Skip != "" {
			continue
		}
		ok = t.Run(i.Name, func(t *testing.T) {
			if parallel && !i.Alone {
				t.Parallel()
			}
			i.Run(t)
		}) && ok
	}
	return ok
}

// caseLimit is how long one case may take outside of a test.
const caseLimit = 3 * time.Minute

// Outcome is the outcome of a case. Readers keep outcomes that they do not know.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"      // the rule was kept
	Failed  Outcome = "failed"  // it was broken, or could not be checked
	Skipped Outcome = "skipped" // it does not apply to this plugin
	NotRun  Outcome = "not-run" // the whole check ended before the case did
)

// Result is the result of one case.
type Result struct {
	// Name is the name of the case, Rule the sentence of the contract.
	Name, Rule string
	Outcome    Outcome
	// Why says why the case was skipped or not run; empty otherwise.
	Why string
	// Problems are the observed violations of the rule, in order; empty unless the case
	// failed.
	Problems []string
	// Log holds the plugin's log lines during the case, at the level of a warning or above.
	Log []string
	// Took is how long the case took; 0 if it was skipped or not run.
	Took time.Duration
}

// Run runs items outside of a test: several at the same time, then those that run alone, one
// after the other. It calls each with every result as soon as it and all earlier results are
// complete, never concurrently.
func Run(ctx context.Context, items []Item, parallel int, each func(Result)) []Result {
	results := make([]Result, len(items))
	done := make([]chan struct{}, len(items))
	for n := range done {
		done[n] = make(chan struct{})
	}
	run := func(n int) {
		results[n] = items[n].Result(ctx)
		close(done[n])
	}
	go func() {
		var together sync.WaitGroup
		slots := make(chan struct{}, max(1, parallel))
		for n, i := range items {
			if i.Alone {
				continue
			}
			slots <- struct{}{}
			together.Go(func() {
				run(n)
				<-slots
			})
		}
		together.Wait()
		for n, i := range items {
			if i.Alone {
				run(n)
			}
		}
	}()
	for n := range items {
		<-done[n]
		each(results[n])
	}
	return results
}

// Result runs the case outside of a test. A case that ctx cuts off counts as not run: its report says
// nothing about the plugin.
func (i Item) Result(ctx context.Context) Result {
	r := Result{Name: i.Name, Rule: i.Rule, Outcome: OK, Why: i.Skip}
	if i.Skip != "" {
		r.Outcome = Skipped
		return r
	}
	notRun := Result{Name: i.Name, Rule: i.Rule, Outcome: NotRun, Why: "the check was interrupted"}
	if ctx.Err() != nil {
		return notRun
	}
	within, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	start := time.Now()
	r.Problems, r.Log = Record(within, i.Name, i.Run)
	r.Took = time.Since(start)
	switch {
	case ctx.Err() != nil:
		return notRun
	case len(r.Problems) == 0:
		return r
	}
	r.Outcome = Failed
	for n, p := range r.Problems {
		// The reader knows the rule already.
		r.Problems[n] = strings.TrimPrefix(p, "broken: "+i.Rule+"\n\t")
	}
	return r
}

// recorder is a T outside of a test: it records the reports of a case.
type recorder struct {
	name string
	ctx  context.Context //nolint:containedctx // of the case, ends with it

	mu     sync.Mutex
	failed []string
	log    []string
	undo   []func()
}

// Record runs f as a test would and returns its reports and log.
func Record(ctx context.Context, name string, f func(T)) (failed, log []string) {
	within, cancel := context.WithCancel(ctx)
	r := &recorder{name: name, ctx: within}
	r.guard(func() { f(r) })
	cancel()
	for undo := r.next(); undo != nil; undo = r.next() {
		r.guard(undo)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed, slices.Clone(r.log)
}

// guard calls f, which may end its goroutine.
func (r *recorder) guard(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("the case panicked: %v\n%s", p, debug.Stack())
			}
		}()
		f()
	}()
	<-done
}

// next takes the newest cleanup; nil if all are done.
func (r *recorder) next() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.undo)
	if n == 0 {
		return nil
	}
	undo := r.undo[n-1]
	r.undo = r.undo[:n-1]
	return undo
}

func (r *recorder) Helper()                  {}
func (r *recorder) Name() string             { return r.name }
func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) TempDir() string {
	dir, err := os.MkdirTemp("", "plugintest")
	if err != nil {
		r.Fatalf("make a directory: %v", err)
	}
	r.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			r.Logf("clean up after the case: %v", err)
		}
	})
	return dir
}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.undo = append(r.undo, f)
}

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
