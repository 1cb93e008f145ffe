package harness

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

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
