package fake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// ownerEvery is how often the process of an owner is checked.
const ownerEvery = 5 * time.Millisecond

// end is the end of the main process. It reports whether that was the end of the
// worker, which has not ended before.
func (w *worker) end(e swarm.Exit) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exit != nil {
		return false
	}
	e.Time = time.Now()
	policy := w.spec.Restart.OrDefault()
	switch {
	case w.completion != nil:
		e.Cause = swarm.CauseCompleted
	case w.owned:
		e.Cause = swarm.CauseOwner
	case e.Cause != swarm.CauseExited, w.kills > 0, !follows(policy.When, e):
	case len(w.restarts) < policy.Budget:
		w.pid, w.last = 0, e
		w.announce()
		// The fake leaves out most of the delay.
		time.AfterFunc(policy.MinDelay, w.again)
		return false
	default:
		e.Cause = swarm.CauseCrashLoop
	}
	if w.pid == 0 {
		e.Code, e.Signal = w.last.Code, w.last.Signal
	}
	w.exit = &e
	if w.alive != "" {
		_ = os.Remove(w.alive)
	}
	if w.home != "" {
		_ = os.RemoveAll(w.home)
	}
	close(w.done)
	w.announce()
	return true
}

// follows reports whether an end is followed by a start.
func follows(when swarm.RestartWhen, e swarm.Exit) bool {
	return when == swarm.RestartAlways || when == swarm.RestartOnFailure && (e.Code != 0 || e.Signal != "")
}

func (w *worker) again() {
	pid := w.engine.newPID()
	w.mu.Lock()
	if w.exit != nil {
		w.mu.Unlock()
		return
	}
	w.restarts = append(w.restarts, swarm.Restarted{
		Number: len(w.restarts) + 1, Time: time.Now(), Code: w.last.Code, Signal: w.last.Signal,
	})
	w.pid, w.started, w.typed, w.closed = pid, time.Now(), "", false
	w.announce()
	w.mu.Unlock()
	w.run(w)
}

// Watch implements [swarm.Watcher].
func (b *Backend) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	w, err := b.worker(h)
	if err != nil {
		return err
	}
	var last swarm.Status
	for first := true; ; first = false {
		st, changed := w.look()
		if first || st.State != last.State || st.Restarts != last.Restarts || (st.Completion != nil) != (last.Completion != nil) {
			if err := each(st); err != nil {
				return err
			}
			last = st
		}
		if st.State != swarm.StateRunning {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Complete implements [swarm.Completer].
func (b *Backend) Complete(ctx context.Context, h swarm.Handle, summary string, o swarm.KillOptions) error {
	w, err := b.worker(h)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.completion != nil:
		return fmt.Errorf("%w: the worker has completed", swarm.ErrTooLate)
	case w.exit != nil:
		return fmt.Errorf("%w: the worker has ended", swarm.ErrTooLate)
	case w.kills > 0:
		return fmt.Errorf("%w: the worker is being killed", swarm.ErrTooLate)
	}
	w.completion = &swarm.Completion{Summary: summary[:min(len(summary), swarm.MaxSummary)], Time: time.Now()}
	w.announce()
	go w.leave(o)
	return nil
}

// leave ends a worker that may end by itself before the grace ends.
func (w *worker) leave(o swarm.KillOptions) {
	grace := time.NewTimer(o.Grace)
	defer grace.Stop()
	select {
	case <-w.done:
	case <-grace.C:
		w.endBy(o)
	}
}

// endBy ends the worker, even if its callers are gone.
func (w *worker) endBy(o swarm.KillOptions) {
	o.Signal = cmp.Or(o.Signal, defaultSignal)
	w.signal(o.Signal, swarm.CauseKilled)
	_, _ = w.finish(context.Background(), o)
}

// follow ends the worker once its owner has ended.
func (w *worker) follow(o swarm.Owner) {
	tick := time.NewTicker(ownerEvery)
	defer tick.Stop()
	for !errors.Is(syscall.Kill(o.PID, 0), syscall.ESRCH) {
		select {
		case <-tick.C:
		case <-w.done:
			return
		}
	}
	w.mu.Lock()
	w.owned = true
	w.mu.Unlock()
	w.endBy(w.spec.Kill)
}

// SetLimits implements [swarm.Limiter].
func (b *Backend) SetLimits(_ context.Context, h swarm.Handle, l swarm.Limits) error {
	if err := l.Check(); err != nil {
		return err
	}
	return b.change(h, func(w *worker) { w.spec.Limits = l })
}

// Progress implements [swarm.Progresser]: a Spawn here waits for nothing.
func (b *Backend) Progress(context.Context, string, func(string) error) error { return nil }

// SetPaused implements [swarm.Pauser].
func (b *Backend) SetPaused(_ context.Context, h swarm.Handle, paused bool) error {
	return b.change(h, func(w *worker) { w.paused = paused })
}

func (b *Backend) change(h swarm.Handle, how func(*worker)) error {
	w, err := b.runningWorker(h)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	how(w)
	return nil
}

// The memory of programs, in bytes.
const (
	memory     = 1 << 20
	heldMemory = 25 << 20
)

func (w *worker) spend(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent += d
}

// Stats implements [swarm.Measurer].
func (b *Backend) Stats(_ context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, len(hs))
	for i, h := range hs {
		results[i].Stats, results[i].Err = b.stats(h)
	}
	return results, nil
}

func (b *Backend) stats(h swarm.Handle) (swarm.Stats, error) {
	w, err := b.runningWorker(h)
	if err != nil {
		return swarm.Stats{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	held := int64(memory)
	if w.spec.Command[0] == "hold" {
		held = heldMemory
	}
	return swarm.Stats{
		Time:   time.Now(),
		Usage:  swarm.Usage{CPUTime: new(w.spent), Peak: &held, Read: new(int64), Written: new(int64)},
		Memory: &held, MemoryKind: swarm.MemoryRSS,
		Processes: new(1), Threads: new(1),
	}, nil
}

const defaultSignal = "SIGTERM"

// Kill implements [swarm.Backend].
func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	w, err := b.worker(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	if o.Signal, err = swarm.ParseSignal(cmp.Or(o.Signal, defaultSignal)); err != nil {
		return swarm.KillResult{}, err
	}
	select {
	case <-w.done:
		return swarm.KillResult{Status: w.status(), AlreadyEnded: true}, nil
	default:
	}
	w.underWay(1)
	w.signal(o.Signal, swarm.CauseKilled)
	if o.Detach {
		// The engine continues by itself, independent of any context.
		go func() {
			defer w.underWay(-1)
			_, _ = w.finish(context.WithoutCancel(ctx), o)
		}()
		return swarm.KillResult{Status: w.status(), Signal: o.Signal}, nil
	}
	defer w.underWay(-1)
	return w.finish(ctx, o)
}

func (w *worker) underWay(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kills += n
}

// finish waits for the grace and forces the end of processes that are still alive.
func (w *worker) finish(ctx context.Context, o swarm.KillOptions) (swarm.KillResult, error) {
	r := swarm.KillResult{Signal: o.Signal}
	grace := time.NewTimer(o.Grace)
	defer grace.Stop()
	select {
	case <-w.done:
		r.Status = w.status()
		return r, nil
	case <-ctx.Done():
		return swarm.KillResult{}, ctx.Err()
	case <-grace.C:
	}
	if o.Force {
		r.Forced = w.end(swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled})
		r.Status = w.status()
		return r, nil
	}
	r.Status = w.status()
	if r.Status.State == swarm.StateExited {
		return r, nil
	}
	r.Survivors = []swarm.Process{{PID: w.pid, Name: w.spec.Command[0]}}
	return r, fmt.Errorf("worker '%s': %d (%s) %w", w.spec.Name, w.pid, w.spec.Command[0], swarm.ErrSurvivors)
}
