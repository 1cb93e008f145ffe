package pty

import (
	"context"
	"time"
)

const (
	firstLook = 200 * time.Microsecond
	maxPause  = 20 * time.Millisecond
)

type waiter struct {
	until  time.Time
	onLate func()
	isLate bool
	timer  *time.Timer
}

func newWaiter(late func()) *waiter {
	return &waiter{until: time.Now().Add(Patience), onLate: late, timer: time.NewTimer(0)}
}

// wait returns when ok holds, however long that takes.
func (w *waiter) wait(ctx context.Context, ok func() (bool, error)) error {
	for d := firstLook; ; d = min(2*d, maxPause) {
		if done, err := ok(); done || err != nil {
			return err
		}
		if err := w.pause(ctx, d); err != nil {
			return err
		}
		w.checkLate()
	}
}

// last is wait until it is late.
func (w *waiter) last(ctx context.Context, ok func() (bool, error)) error {
	return w.wait(ctx, func() (bool, error) {
		done, err := ok()
		return done || w.isLate, err
	})
}

func (w *waiter) checkLate() {
	if w.isLate || time.Now().Before(w.until) {
		return
	}
	w.isLate = true
	if w.onLate != nil {
		w.onLate()
	}
}

func (w *waiter) pause(ctx context.Context, d time.Duration) error {
	w.timer.Reset(d)
	select {
	case <-w.timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
