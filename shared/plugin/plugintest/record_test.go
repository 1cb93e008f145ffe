package plugintest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder is a T that notes what a case reports.
type recorder struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // of the case

	mu     sync.Mutex
	failed []string
	undo   []func()
}

func (r *recorder) Helper()                  {}
func (r *recorder) Name() string             { return r.t.Name() }
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) TempDir() string          { return r.t.TempDir() }
func (r *recorder) Logf(string, ...any)      {}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.undo = append(r.undo, f)
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

// record runs f as a test would and returns what it reported.
func record(t *testing.T, f func(T)) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{t: t, ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	cancel()
	for _, undo := range slices.Backward(r.undo) {
		undo()
	}
	return r.failed
}

// failures returns the names of the cases that a backend fails, of those that
// are wanted.
func failures(t *testing.T, b Backend, wanted func(testCase) bool) []string {
	t.Helper()
	var mu sync.Mutex
	var failed []string
	probe := b.direct(t)
	var cases sync.WaitGroup
	for _, c := range backendCases() {
		if !c.applies(probe) || !wanted(c) {
			continue
		}
		cases.Go(func() {
			why := record(t, func(t T) { c.check(t, b.settings(), b.direct) })
			if len(why) == 0 {
				return
			}
			if !strings.Contains(why[0], "broken: "+c.rule+"\n") {
				t.Errorf("%s failed without naming its rule: %s", c.name, why[0])
			}
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, c.name)
		})
	}
	cases.Wait()
	slices.Sort(failed)
	return failed
}
