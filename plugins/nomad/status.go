package nomad

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *Backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	_, _, st, err := b.now(ctx, h)
	return st, err
}

// now returns the worker of a handle, a snapshot with it, and its status.
func (b *Backend) now(ctx context.Context, h swarm.Handle) (r ref, s snapshot, st swarm.Status, err error) {
	if r, err = decode(h); err != nil {
		return r, s, st, err
	}
	if s, err = b.look(ctx, r.place, r.Job, 0); err != nil {
		return r, s, st, err
	}
	return r, s, b.statusIn(ctx, s, r), nil
}

func (b *Backend) status(ctx context.Context, r ref) (swarm.Status, error) {
	s, err := b.look(ctx, r.place, r.Job, 0)
	if err != nil {
		return swarm.Status{}, err
	}
	return b.statusIn(ctx, s, r), nil
}

// StatusBatch takes one snapshot of each place that has workers.
func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	snapshotOf := b.snapshots(ctx, "")
	results := make([]swarm.StatusResult, len(hs))
	for i, h := range hs {
		r, err := decode(h)
		if err != nil {
			results[i].Err = err
			continue
		}
		s, err := snapshotOf(r.place)
		if results[i].Err = err; err == nil {
			results[i].Status = b.statusIn(ctx, s, r)
		}
	}
	return results, ctx.Err()
}

// snapshots returns a function that takes one snapshot of each place, or of one job there. Later
// calls for a place get the same snapshot.
func (b *Backend) snapshots(ctx context.Context, job string) func(place) (snapshot, error) {
	looks := make(map[place]func() (snapshot, error))
	return func(at place) (snapshot, error) {
		if looks[at] == nil {
			looks[at] = sync.OnceValues(func() (snapshot, error) { return b.look(ctx, at, job, 0) })
		}
		return looks[at]()
	}
}

func (b *Backend) statusIn(ctx context.Context, s snapshot, r ref) swarm.Status {
	a, j := s.allocs[r.ID], s.jobs[r.Job]
	if j != nil && j.Meta[metaID] != r.ID {
		j = nil // the name was used again
	}
	if a == nil {
		return unplaced(j)
	}
	st := swarm.Status{Where: where(a)}
	task := a.TaskStates[taskName]
	if task != nil {
		st.Started = task.StartedAt
	}
	switch a.ClientStatus {
	case api.AllocClientStatusPending:
		st.State, st.Reason = swarm.StatePending, "not started yet"
		if !st.Started.IsZero() { // it starts again
			st.State = swarm.StateRunning
		}
		if e := lastEvent(task); e != nil {
			st.Reason += ": " + firstLine(cmp.Or(e.DisplayMessage, e.Type))
		}
	case api.AllocClientStatusRunning:
		st.State = swarm.StateRunning
	case api.AllocClientStatusLost:
		// The servers say so, not the node.
		st.Reason = fmt.Sprintf("Nomad lost the node '%s', where the worker may still run", a.NodeName)
	case api.AllocClientStatusComplete, api.AllocClientStatusFailed:
		st.State = swarm.StateExited
		st.Exit = exitOf(a, task)
		if st.Exit.Cause == swarm.CauseExited && b.wasKilled(ctx, a, j, r) {
			st.Exit.Cause = swarm.CauseKilled
		}
	default:
		st.Reason = fmt.Sprintf("the node '%s' is disconnected from Nomad", a.NodeName)
	}
	return st
}

// unplaced is the status of a worker without an allocation.
func unplaced(j *api.JobListStub) swarm.Status {
	switch {
	case j == nil:
		return swarm.Status{State: swarm.StateLost, Reason: "Nomad no longer knows it; the exit is unknown"}
	case j.Stop:
		return swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{
			Code: -1, Cause: swarm.CauseKilled, Reason: "ended before it was started", Time: time.Unix(0, j.SubmitTime),
		}}
	case j.Status == jobDead:
		return swarm.Status{State: swarm.StateLost, Reason: "Nomad has collected it as garbage; the exit is unknown"}
	default:
		return swarm.Status{State: swarm.StatePending, Reason: "not started yet: waiting for a node with enough space"}
	}
}

func where(a *api.AllocationListStub) swarm.Where {
	return swarm.Where{Kind: "node", Name: a.NodeName, ID: a.NodeID, Parts: map[string]string{
		"node": a.NodeName, "job": a.JobID, "alloc": a.ID, "namespace": a.Namespace,
	}}
}

func lastEvent(t *api.TaskState) *api.TaskEvent {
	if t == nil || len(t.Events) == 0 {
		return nil
	}
	return t.Events[len(t.Events)-1]
}

// exitOf returns how a task ended that has ended.
func exitOf(a *api.AllocationListStub, t *api.TaskState) *swarm.Exit {
	stopped, moved := a.DesiredStatus != api.AllocDesiredStatusRun, movedAway(a)
	e := &swarm.Exit{Code: -1, Cause: swarm.CauseExited, Time: time.Unix(0, a.ModifyTime)}
	if t != nil && !t.FinishedAt.IsZero() {
		e.Time = t.FinishedAt
	}
	end := eventOf(t, api.TaskTerminated)
	switch {
	case end != nil:
		e.Code = detail(end, "exit_code", end.ExitCode)
		if n := detail(end, "signal", end.Signal); n != 0 {
			e.Code, e.Signal = -1, signalName(n)
		}
		if end.Details["oom_killed"] == "true" {
			e.Reason = "out of memory"
			if e.Signal == "SIGKILL" || e.Code == 137 {
				e.Cause, e.Reason = swarm.CauseOutOfMemory, ""
			}
		}
	case stopped:
		e.Reason = "ended before it was started"
	default:
		e.Cause, e.Reason = swarm.CauseNotStarted, failure(a)
	}
	switch {
	case e.Cause != swarm.CauseExited:
	case moved != "":
		e.Cause, e.Reason = swarm.CauseEvicted, moved
	case stopped:
		e.Cause = swarm.CauseKilled
	}
	return e
}

// movedAway returns why Nomad itself stopped an allocation, to run it elsewhere; empty if it was
// stopped with its job. Nomad reports the reason in words only.
func movedAway(a *api.AllocationListStub) string {
	if a.DesiredStatus == api.AllocDesiredStatusRun {
		return ""
	}
	has := func(text string) bool { return strings.Contains(strings.ToLower(a.DesiredDescription), text) }
	switch {
	case has("migrat"), has("tainted"):
		return fmt.Sprintf("Nomad stopped it: its node '%s' is drained, or the allocation was stopped by hand", a.NodeName)
	case has("preempt"):
		return fmt.Sprintf("Nomad stopped it: a job of a higher priority took its place on the node '%s'", a.NodeName)
	case has("lost"):
		return fmt.Sprintf("Nomad stopped it: its node '%s' had been lost", a.NodeName)
	case has("rescheduled"):
		return "Nomad stopped it, to start it elsewhere"
	default:
		return ""
	}
}

// eventOf returns the last event of a type, or nil.
func eventOf(t *api.TaskState, kind string) *api.TaskEvent {
	if t == nil {
		return nil
	}
	for _, e := range slices.Backward(t.Events) {
		if e.Type == kind {
			return e
		}
	}
	return nil
}

func detail(e *api.TaskEvent, key string, otherwise int) int {
	if n, err := strconv.Atoi(e.Details[key]); err == nil {
		return n
	}
	return otherwise
}
