package container

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

type state struct {
	running  bool
	created  bool // it was never started
	ending   bool // its exit is not known yet
	paused   bool
	tty      bool // how it takes its input, as in its handle
	stdin    bool
	pid      int
	started  time.Time
	finished time.Time
	code     int
	oom      bool
	memory   int64 // the limit, 0: none
	failure  string
	workdir  string
	grace    time.Duration // between SIGTERM and SIGKILL, of a kill
}

// inspect returns the state of a worker's container. [swarm.ErrNotFound] says that the
// engine does not have it, [swarm.ErrStaleHandle] that it is not the worker's.
func (e *engine) inspect(ctx context.Context, r ref) (state, error) {
	c, err := e.look(ctx, r.Container)
	if err != nil {
		if isGone(err) {
			return state{}, fmt.Errorf("%w: the container of the worker was removed", swarm.ErrNotFound)
		}
		return state{}, e.explain(ctx, "look at the worker", err)
	}
	if c.Config == nil || c.Config.Labels[labelWorker] != r.Worker || c.State == nil {
		return state{}, fmt.Errorf("%w: the container %.12s is not that of worker %s", swarm.ErrStaleHandle, r.Container, r.Worker)
	}
	ending := isEnding(c.State)
	s := state{
		running: c.State.Running || c.State.Paused || c.State.Restarting || ending, ending: ending,
		created: isCreated(c.State.Status), paused: c.State.Paused, pid: c.State.Pid,
		started: timeOf(c.State.StartedAt), finished: timeOf(c.State.FinishedAt),
		tty: c.Config.Tty, stdin: !c.Config.Tty && hasStdin(slices.Concat(c.Config.Entrypoint, c.Config.Cmd)),
		code: c.State.ExitCode, oom: c.State.OOMKilled, failure: firstLine(c.State.Error),
	}
	s.workdir, s.grace = c.Config.WorkingDir, defaultGrace
	if c.Config.StopTimeout != nil {
		s.grace = time.Duration(*c.Config.StopTimeout) * time.Second
	}
	if c.HostConfig != nil {
		s.memory = c.HostConfig.Memory
	}
	return s, nil
}

// defaultGrace is the grace of engines if a container has none of its own.
const defaultGrace = 10 * time.Second

// looks is how often look asks before an error of the engine counts.
const looks = 5

// look returns what the engine says of a container. Podman reads /proc for its answer and
// fails if the first process ends just then; it knows of the end a moment later.
func (e *engine) look(ctx context.Context, id string) (container.InspectResponse, error) {
	for try := 1; ; try++ {
		got, err := e.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
		if try == looks || !errdefs.IsInternal(err) || isGone(err) {
			return got.Container, err
		}
		if sleep.For(ctx, findPoll) != nil {
			return got.Container, err
		}
	}
}

// isCreated reports that a container was never started. Podman has more words for it.
func isCreated(s container.ContainerState) bool {
	return s == container.StateCreated || s == "configured" || s == "initialized"
}

// isEnding reports that a container is about to have an exit: for a moment Podman has
// stopped it and does not know more.
func isEnding(s *container.State) bool {
	return (s.Status == "stopping" || s.Status == "stopped") && timeOf(s.FinishedAt).IsZero()
}

// timeOf parses a time of the engine, whose zero is the year 1.
func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}

func (b *Backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return swarm.Status{}, err
	}
	return e.status(ctx, r)
}

func (e *engine) status(ctx context.Context, r ref) (swarm.Status, error) {
	n, err := readNote(r.Dir)
	if err != nil {
		return swarm.Status{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	s, err := e.inspect(ctx, r)
	if errors.Is(err, swarm.ErrNotFound) {
		return removed(n), nil
	}
	if err != nil {
		return swarm.Status{}, err
	}
	return statusOf(r, s, n), nil
}

// statusLimit is how many containers are looked at closely at the same time.
const statusLimit = 16

// StatusBatch asks each engine once for all of its workers, and then for those that have
// ended.
func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	results := make([]swarm.StatusResult, len(hs))
	asked := make(map[string]func() (map[string]bool, error)) // by the sockets of engines
	slots := make(chan struct{}, statusLimit)
	var asking sync.WaitGroup
	for i, h := range hs {
		r, e, err := b.open(ctx, h)
		if err != nil {
			results[i].Err = err
			continue
		}
		if asked[r.Socket] == nil {
			asked[r.Socket] = sync.OnceValues(func() (map[string]bool, error) { return e.runningIDs(ctx) })
		}
		running, err := asked[r.Socket]()
		if err != nil {
			results[i].Err = err
			continue
		}
		if running[r.Container] {
			if n, err := readNote(r.Dir); err == nil && n.Container == r.Container && n.PID > 0 {
				results[i].Status = statusOf(r, state{running: true, pid: n.PID, started: n.Started}, n)
				continue
			}
		}
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			results[i].Status, results[i].Err = e.status(ctx, r)
		})
	}
	asking.Wait()
	return results, ctx.Err()
}

// runningIDs returns the ids of the containers that are workers and run.
func (e *engine) runningIDs(ctx context.Context) (map[string]bool, error) {
	list, err := e.ContainerList(ctx, client.ContainerListOptions{
		Filters: make(client.Filters).Add("label", labelWorker).Add("status", string(container.StateRunning)),
	})
	if err != nil {
		return nil, e.explain(ctx, "list the workers", err)
	}
	ids := make(map[string]bool, len(list.Items))
	for _, c := range list.Items {
		ids[c.ID] = true
	}
	return ids, nil
}

// removed is the status of a worker whose container the engine does not have.
func removed(n note) swarm.Status {
	if !n.Undone.IsZero() {
		return swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{
			Code: -1, Cause: swarm.CauseKilled, Reason: "ended before it was started", Time: n.Undone,
		}}
	}
	return swarm.Status{State: swarm.StateLost, Reason: "its container was removed; the exit is unknown"}
}

func statusOf(r ref, s state, n note) swarm.Status {
	st := swarm.Status{Started: s.started, Where: where(r)}
	switch {
	case s.running:
		st.State, st.PID = swarm.StateRunning, s.pid
		st.Paused, st.Unenforced = s.paused, n.Unenforced
	case s.created:
		st.State, st.Reason = swarm.StateRunning, "not started yet"
	default:
		if why := unknowable(s, n); why != "" {
			st.State, st.Reason = swarm.StateLost, why
			break
		}
		st.State, st.Exit = swarm.StateExited, exitOf(s)
		if n.killedAt(s.finished) {
			st.Exit.Cause = swarm.CauseKilled
		}
	}
	return st
}

// unknowable returns why the exit that an engine reports is not the real one, or "".
func unknowable(s state, n note) string {
	if s.finished.IsZero() || s.code < 0 {
		return "the engine does not know how it ended"
	}
	// The engine invents an exit at its next start for a container that ran when the
	// machine went down.
	booted, err := proc.BootTime()
	earlier := err == nil && !s.started.IsZero() && s.started.Before(booted)
	if boot, _ := proc.BootID(); n.Boot != "" && boot != "" {
		earlier = n.Boot != boot // clocks may be set, so this is better
	}
	if earlier && (err != nil || s.finished.After(booted)) {
		return "the machine was restarted while it ran; the exit is unknown"
	}
	return ""
}

func where(r ref) swarm.Where {
	return swarm.Where{Kind: "container", Name: r.Name, ID: r.Container, Parts: map[string]string{
		"container": r.Container[:12], "name": r.Name, "engine": socketScheme + r.Socket,
	}}
}

// signalBase is what engines add to the number of the signal that ended a process.
const signalBase = 128

// exitOf returns how a container ended. Engines report the code of a shell: one that stands
// for a signal is taken for that signal.
func exitOf(s state) *swarm.Exit {
	x := &swarm.Exit{Code: s.code, Cause: swarm.CauseExited, Time: s.finished, Reason: s.failure}
	if name := signalOf(s.code - signalBase); name != "" {
		x.Code, x.Signal = -1, name
	}
	limit := ""
	if s.memory > 0 {
		limit = "limit " + humane.Bytes(s.memory)
	}
	switch {
	case s.oom && x.Signal == "SIGKILL":
		x.Cause, x.Reason = swarm.CauseOutOfMemory, limit
	case s.oom:
		x.Reason = "one of its processes was ended because memory ran out"
		if limit != "" {
			x.Reason += " (" + limit + ")"
		}
	}
	return x
}

// signals are the signals that Linux, on which containers run, ends processes by.
var signals = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 29: "SIGIO", 31: "SIGSYS",
}

func signalOf(n int) string {
	if n > 0 && n < len(signals) {
		return signals[n]
	}
	return ""
}
