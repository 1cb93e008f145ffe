package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/fake"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// broken is a right backend but for what its hooks change. A hook that is not
// set changes nothing.
type broken struct {
	*fake.Backend
	hooks *hooks

	mu      sync.Mutex
	spawned []swarm.Spec
	looks   map[string]int
	kills   map[string]int
	busy    map[string]bool
}

// hooks are called around the methods of the right backend.
type hooks struct {
	handle      func(swarm.Handle) swarm.Handle // of what Spawn returns, and back
	spawn       func(*broken, context.Context, swarm.Spec) (swarm.Handle, error)
	status      func(*broken, swarm.Handle, swarm.Status, error) (swarm.Status, error)
	beforeKill  func(*broken, swarm.Handle, swarm.KillOptions) error
	kill        func(swarm.KillOptions, swarm.KillResult, error) (swarm.KillResult, error)
	batch       func([]swarm.StatusResult) ([]swarm.StatusResult, error)
	output      func(*swarm.OutputOptions)
	piece       func(swarm.OutputOptions, swarm.Output) bool
	afterOutput func(o swarm.OutputOptions, pieces int, err error) error
	find        func(*broken, swarm.Handle, error) (swarm.Handle, error)
	sweep       func(b *broken, ended, running []swarm.Handle) error
	check       func() error
	talk        talkHooks
	list        listHook
	stats       statsHook
	bounds      boundsHooks
	foresee     func(*broken, swarm.SpawnCheck, error) error
}

// in undoes the hook that takes the version away.
func (b *broken) in(h swarm.Handle) swarm.Handle {
	if b.hooks.handle != nil && h.Version == 0 {
		h.Version = 1
	}
	return h
}

func (b *broken) Spawn(ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
	spawn := (*broken).right
	if b.hooks.spawn != nil {
		spawn = b.hooks.spawn
	}
	h, err := spawn(b, ctx, s)
	if err != nil {
		return h, err
	}
	if b.hooks.handle != nil {
		h = b.hooks.handle(h)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spawned = append(b.spawned, s)
	return h, nil
}

// right spawns as one should.
func (b *broken) right(ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
	return b.Backend.Spawn(ctx, s)
}

func (b *broken) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	st, err := b.Backend.Status(ctx, b.in(h))
	if b.hooks.status != nil {
		return b.hooks.status(b, h, st, err)
	}
	return st, err
}

func (b *broken) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	results := make([]swarm.StatusResult, len(hs))
	for i, h := range hs {
		results[i].Status, results[i].Err = b.Status(ctx, h)
	}
	if b.hooks.batch != nil {
		return b.hooks.batch(results)
	}
	return results, nil
}

func (b *broken) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	h = b.in(h)
	var early error
	if b.hooks.beforeKill != nil {
		early = b.hooks.beforeKill(b, h, o)
	}
	b.mark(h, true)
	r, err := b.Backend.Kill(ctx, h, o)
	b.mark(h, false)
	if early != nil {
		return swarm.KillResult{}, early
	}
	if b.hooks.kill != nil {
		return b.hooks.kill(o, r, err)
	}
	return r, err
}

func (b *broken) mark(h swarm.Handle, busy bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy[string(h.Data)] = busy
}

func (b *broken) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	asked := o
	if b.hooks.output != nil {
		b.hooks.output(&o)
	}
	n := 0
	err := b.Backend.Output(ctx, b.in(h), o, func(piece swarm.Output) error {
		n++
		if b.hooks.piece != nil && !b.hooks.piece(asked, piece) {
			return nil
		}
		return each(piece)
	})
	if b.hooks.afterOutput != nil {
		return b.hooks.afterOutput(asked, n, err)
	}
	return err
}

func (b *broken) Sweep(_ context.Context, ended, running []swarm.Handle) ([]string, error) {
	if b.hooks.sweep != nil {
		return nil, b.hooks.sweep(b, ended, running)
	}
	return nil, nil
}

func (b *broken) Check(context.Context) error {
	if b.hooks.check != nil {
		return b.hooks.check()
	}
	return nil
}

// oldHandle is one of a worker that is no more.
var oldHandle = swarm.Handle{Version: 1, Data: []byte("fake:old")}

var errBroken = errors.New("broken on purpose")

// count adds one to what is counted for a handle.
func (b *broken) count(m map[string]int, h swarm.Handle) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	m[string(h.Data)]++
	return m[string(h.Data)]
}

// ways maps the name of a case to a way to break its rule and no other.
func ways() map[string]hooks {
	ctx := context.Background()
	sigkill := swarm.KillOptions{Signal: "SIGKILL", Force: true}
	return map[string]hooks{
		"spawn-returns-a-handle": {handle: func(h swarm.Handle) swarm.Handle {
			h.Version = 0
			return h
		}},
		"spawn-id-is-taken": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			if h, err := b.right(ctx, s); !errors.Is(err, swarm.ErrExists) {
				return h, err
			}
			return b.Backend.Find(ctx, swarm.Lookup{ID: s.ID})
		}},
		"spawn-no-such-command": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			if s.Command[0] == string(script.Missing) {
				s.Command = []string{string(script.Sleep)}
			}
			return b.right(ctx, s)
		}},
		"spawn-unknown-option": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			s.Options = nil
			return b.right(ctx, s)
		}},
		"spawn-environment": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			slices.Reverse(s.Env)
			return b.right(ctx, s)
		}},
		"spawn-cancelled": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			return b.right(context.WithoutCancel(ctx), s)
		}},
		"spawn-many-at-once": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			if b.count(b.looks, swarm.Handle{}) > 10 {
				return swarm.Handle{}, errBroken
			}
			return b.right(ctx, s)
		}},
		"status-running": {status: func(_ *broken, _ swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			if st.State == swarm.StateRunning {
				st.Exit = &swarm.Exit{}
			}
			return st, err
		}},
		"status-exit-code": {status: func(_ *broken, _ swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			if st.Exit != nil && st.Exit.Code == 0 {
				st.Exit.Code = 1
			}
			return st, err
		}},
		"status-exit-signal": {status: func(_ *broken, _ swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			if st.Exit != nil && st.Exit.Signal == "SIGSEGV" {
				st.Exit.Code, st.Exit.Signal = 139, ""
			}
			return st, err
		}},
		"status-changes-nothing": {status: func(b *broken, h swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			if err == nil && b.count(b.looks, h) == 5 && b.specOf(h).Restart.When == swarm.RestartNo {
				_, _ = b.Backend.Kill(ctx, h, sigkill)
			}
			return st, err
		}},
		"handle-unknown-version": {status: func(b *broken, h swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			if h.Version > 1000 {
				return b.Backend.Status(ctx, swarm.Handle{Version: 1, Data: h.Data})
			}
			return st, err
		}},
		"handle-older-versions": {status: func(_ *broken, h swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			if string(h.Data) == string(oldHandle.Data) {
				return swarm.Status{}, swarm.ErrInvalidHandle
			}
			return st, err
		}},
		"handle-garbage": {kill: func(_ swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			if errors.Is(err, swarm.ErrInvalidHandle) && strings.Contains(err.Error(), "version 1") && !strings.Contains(err.Error(), "version 1001") {
				return swarm.KillResult{AlreadyEnded: true}, nil
			}
			return r, err
		}},
		"handle-damaged": {status: func(_ *broken, _ swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			if errors.Is(err, swarm.ErrNotFound) {
				return swarm.Status{State: swarm.StateRunning}, nil
			}
			return st, err
		}},
		"handle-outlives-the-plugin": {status: func(b *broken, h swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if err == nil && !slices.ContainsFunc(b.spawned, func(s swarm.Spec) bool { return bytes.HasSuffix(h.Data, []byte(s.ID)) }) {
				return swarm.Status{State: swarm.StateLost}, nil
			}
			return st, err
		}},
		"kill-ends": {kill: func(o swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			r.Status = swarm.Status{}
			return r, err
		}},
		"kill-again": {kill: func(_ swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			if r.AlreadyEnded && r.Status.Exit.Cause == swarm.CauseKilled {
				r.AlreadyEnded = false
			}
			return r, err
		}},
		"kill-after-exit": {kill: func(_ swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			if r.AlreadyEnded && r.Status.Exit.Cause == swarm.CauseExited {
				r.AlreadyEnded = false
			}
			return r, err
		}},
		"kill-forces": {kill: func(_ swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			r.Forced = false
			return r, err
		}},
		"kill-does-not-force": {kill: func(_ swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			r.Survivors = nil
			return r, err
		}},
		"kill-signal": {kill: func(o swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			if o.Signal == "SIGUSR1" {
				r.Signal = "SIGTERM"
			}
			return r, err
		}},
		"kill-harsher": {beforeKill: func(b *broken, h swarm.Handle, o swarm.KillOptions) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			if o.Signal == "SIGKILL" && b.busy[string(h.Data)] {
				return errBroken // though it is done
			}
			return nil
		}},
		"kill-together": {beforeKill: func(b *broken, h swarm.Handle, o swarm.KillOptions) error {
			if o.Signal == "" && b.count(b.kills, h) > 3 {
				return errBroken
			}
			return nil
		}},
		"kill-cancelled": {kill: func(_ swarm.KillOptions, r swarm.KillResult, err error) (swarm.KillResult, error) {
			if errors.Is(err, context.DeadlineExceeded) {
				return r, swarm.ErrUnavailable
			}
			return r, err
		}},
		"kill-detached": {beforeKill: func(_ *broken, _ swarm.Handle, o swarm.KillOptions) error {
			if o.Detach && o.Grace == shortGrace {
				return swarm.ErrUnsupported
			}
			return nil
		}},
		"kill-leaves-others-alone": {beforeKill: func(b *broken, h swarm.Handle, _ swarm.KillOptions) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, s := range b.spawned {
				if strings.HasPrefix(s.Name, "w.1") {
					other, err := b.Backend.Find(ctx, swarm.Lookup{ID: s.ID})
					if err == nil {
						_, err = b.Backend.Kill(ctx, other, sigkill)
					}
					if err != nil {
						return fmt.Errorf("kill what has a similar name: %w", err)
					}
				}
			}
			return nil
		}},
		"batch-equals-singles": {batch: func(rs []swarm.StatusResult) ([]swarm.StatusResult, error) {
			slices.Reverse(rs)
			return rs, nil
		}},
		"batch-of-none": {batch: func(rs []swarm.StatusResult) ([]swarm.StatusResult, error) {
			if len(rs) == 0 {
				return nil, errBroken
			}
			return rs, nil
		}},
		"output-is-complete": {piece: func(o swarm.OutputOptions, p swarm.Output) bool {
			return o.Follow || o.Tail != nil || !o.Since.IsZero() || string(p.Data) != "last"
		}},
		"output-is-followed": {piece: func(o swarm.OutputOptions, p swarm.Output) bool {
			return !o.Follow || string(p.Data) != "last"
		}},
		"output-tail": {output: func(o *swarm.OutputOptions) { o.Tail = nil }},
		"output-since": {piece: func(o swarm.OutputOptions, p swarm.Output) bool {
			return o.Since.IsZero()
		}},
		"output-none-yet": {afterOutput: func(o swarm.OutputOptions, n int, err error) error {
			if n == 0 && err == nil && o.Tail == nil && o.Since.IsZero() {
				return swarm.ErrNotFound
			}
			return err
		}},
		"output-callback-fails": {afterOutput: func(o swarm.OutputOptions, n int, err error) error {
			if !o.Follow && err != nil && !errors.Is(err, swarm.ErrInvalidHandle) {
				return fmt.Errorf("read output: %w", err)
			}
			return err
		}},
		"output-cancelled": {afterOutput: func(o swarm.OutputOptions, _ int, err error) error {
			if errors.Is(err, context.DeadlineExceeded) {
				return nil
			}
			return err
		}},
		"output-bad-handle": {afterOutput: func(o swarm.OutputOptions, _ int, err error) error {
			if errors.Is(err, swarm.ErrInvalidHandle) {
				return nil
			}
			return err
		}},
		"find-running": {find: func(b *broken, h swarm.Handle, err error) (swarm.Handle, error) {
			if st, serr := b.Backend.Status(ctx, h); serr == nil && st.State == swarm.StateRunning && !strings.HasPrefix(b.specOf(h).Name, "deadline-") {
				return swarm.Handle{}, swarm.ErrNotFound
			}
			return h, err
		}},
		"find-ended": {find: func(b *broken, h swarm.Handle, err error) (swarm.Handle, error) {
			if st, serr := b.Backend.Status(ctx, h); serr == nil && st.State == swarm.StateExited {
				return swarm.Handle{}, swarm.ErrNotFound
			}
			return h, err
		}},
		"find-nothing": {find: func(b *broken, h swarm.Handle, err error) (swarm.Handle, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if err != nil && len(b.spawned) > 0 {
				return swarm.Handle{}, swarm.ErrUnavailable
			}
			return h, err
		}},
		"sweep-spares-the-running": {sweep: func(b *broken, _, running []swarm.Handle) error {
			for _, h := range running {
				_, _ = b.Backend.Kill(ctx, h, sigkill)
			}
			return nil
		}},
		"sweep-after-the-last": {sweep: func(_ *broken, _, running []swarm.Handle) error {
			if len(running) == 0 {
				return errBroken
			}
			return nil
		}},
		"check": {check: func() error { return errBroken }},
	}
}

// allWays are those of ways and of everywhere else.
func allWays() map[string]hooks {
	all := ways()
	for _, more := range []map[string]hooks{lifeWays(), talkWays(), listWays(), statsWays(), boundsWays(), foreseeWays(), sandboxWays(), deadlineWays(), execWays(), copyWays(), forwardWays()} {
		maps.Copy(all, more)
	}
	return all
}

// TestBrokenBackends checks that a backend that breaks one rule fails the case of that rule, and no
// other. A short run leaves out the others, which are most of the work.
func TestBrokenBackends(t *testing.T) {
	t.Parallel()
	broke := allWays()
	// They wait more than they work: as parallel tests only a few would run. Each of them
	// runs a hundred cases at once, and with many of them on a busy machine, none would
	// get what it waits for in time.
	slots := make(chan struct{}, 4*runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for _, c := range backendCases() {
		h, ok := broke[c.name]
		if !ok && !c.local && !c.built {
			t.Errorf("no backend breaks the rule of %s", c.name)
		}
		if !ok {
			continue
		}
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(c.name, func(t *testing.T) {
				engine := fake.NewEngine()
				got := failures(t, Backend{
					New: func(T) swarm.Backend {
						return &broken{
							Backend: engine.Backend(), hooks: &h,
							looks: map[string]int{}, kills: map[string]int{}, busy: map[string]bool{},
						}
					},
					Command: func(s script.Script) []string { return []string{string(s)} },
					Handles: []swarm.Handle{oldHandle},
				}, func(other testCase) bool { return other.name == c.name || !testing.Short() })
				if c.name == "find-nothing" {
					// It notices too if no worker was spawned in time.
					got = slices.DeleteFunc(got, func(name string) bool { return name == "deadline-in-spawn" })
				}
				if diff := cmp.Diff([]string{c.name}, got); diff != "" {
					t.Errorf("failed cases (-want +got):\n%s", diff)
				}
			})
		})
	}
	running.Wait()
}
