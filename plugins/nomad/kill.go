package nomad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// endLimit is how long a node may take to report the end of a task after a forced kill.
const endLimit = 30 * time.Second

// Kill ends the worker. Its job is stopped in any case, which marks the end as one by Kill
// for later queries. If the signal and the grace are the job's own, Nomad does the
// rest; otherwise they are carried out here before the stop.
func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	first, err := parseSignal(cmp.Or(o.Signal, "SIGTERM"))
	if err != nil {
		return swarm.KillResult{}, err
	}
	r, s, st, err := b.now(ctx, h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	if isFinal(st) {
		return swarm.KillResult{Status: st, AlreadyEnded: true}, nil
	}
	if st.State == swarm.StateUnknown {
		return b.killUnseen(ctx, r, st, o)
	}
	k := &kill{b: b, r: r, alloc: s.allocs[r.ID], o: o, signal: first}
	return k.run(ctx)
}

// killUnseen makes Nomad end a worker whose node is away. Until that is back the worker may run.
func (b *Backend) killUnseen(ctx context.Context, r ref, st swarm.Status, o swarm.KillOptions) (swarm.KillResult, error) {
	if o.Force {
		if err := b.deregister(ctx, r, false); err != nil {
			return swarm.KillResult{}, err
		}
		st.Reason += "; Nomad ends the worker as soon as the node is back"
	}
	return swarm.KillResult{Status: st}, fmt.Errorf("%w: %s", swarm.ErrUnavailable, st.Reason)
}

type kill struct {
	b      *Backend
	r      ref
	alloc  *api.AllocationListStub // nil: not placed yet
	o      swarm.KillOptions
	signal string
}

func (k *kill) run(ctx context.Context) (swarm.KillResult, error) {
	started := k.alloc != nil && k.alloc.ClientStatus == api.AllocClientStatusRunning
	switch {
	case !started, k.o.Force && k.signal == k.r.Signal && k.o.Grace == k.r.Grace && !k.o.Detach:
		if err := k.b.deregister(ctx, k.r, false); err != nil {
			return swarm.KillResult{}, err
		}
		return k.finish(ctx, k.r.Grace+endLimit, started)
	case k.o.Detach:
		return k.detach(ctx)
	}
	defer k.b.intend(ctx, k.r)()
	st, err := k.send(ctx, k.signal, k.o.Grace)
	if errors.Is(err, errAway) {
		st.Reason, err = fmt.Sprintf("the node '%s' is away from Nomad", k.alloc.NodeName), nil
	}
	if err != nil {
		return swarm.KillResult{}, err
	}
	if st.State == swarm.StateUnknown {
		return k.b.killUnseen(ctx, k.r, st, k.o)
	}
	forced := !isFinal(st)
	if forced && !k.o.Force {
		return k.survives(st)
	}
	if forced {
		if _, err := k.send(ctx, "SIGKILL", endLimit); err != nil {
			return swarm.KillResult{}, err
		}
	}
	if err := k.b.deregister(ctx, k.r, false); err != nil {
		return swarm.KillResult{}, err
	}
	res, err := k.finish(ctx, endLimit, true)
	res.Forced = forced && k.signal != "SIGKILL"
	return res, err
}

// send signals the worker and waits for its end, for so long at most.
func (k *kill) send(ctx context.Context, signal string, limit time.Duration) (swarm.Status, error) {
	err := k.b.signal(ctx, k.r, k.alloc.ID, signal)
	switch {
	case errors.Is(err, swarm.ErrNotFound), err == nil && signal == "SIGKILL":
		limit = endLimit // its node is about to report it
	case err != nil:
		return swarm.Status{}, err
	}
	return k.b.awaitEnd(ctx, k.r, limit)
}

// detach leaves the kill to Nomad, with the signal and the grace of the job: the
// plugin is not there to wait for others.
func (k *kill) detach(ctx context.Context) (swarm.KillResult, error) {
	res := swarm.KillResult{Signal: k.signal}
	var err error
	if k.signal != k.r.Signal || !k.o.Force {
		err = k.b.signal(ctx, k.r, k.alloc.ID, k.signal)
	}
	if errors.Is(err, swarm.ErrNotFound) {
		err = nil
	}
	if err == nil && k.o.Force {
		err = k.b.deregister(ctx, k.r, false)
	}
	if err != nil {
		return swarm.KillResult{}, err
	}
	res.Status, err = k.b.status(ctx, k.r)
	return res, err
}

// finish waits for the end of a worker whose job was stopped.
func (k *kill) finish(ctx context.Context, limit time.Duration, signalled bool) (swarm.KillResult, error) {
	st, err := k.b.awaitEnd(ctx, k.r, limit)
	if err != nil {
		return swarm.KillResult{}, err
	}
	if st.State == swarm.StateUnknown {
		return k.b.killUnseen(ctx, k.r, st, k.o)
	}
	if !isFinal(st) {
		return k.survives(st)
	}
	if st.Exit != nil && st.Exit.Cause == swarm.CauseEvicted {
		// Nomad stopped it for a reason of its own at the same time.
		st.Exit.Cause = swarm.CauseKilled
	}
	res := swarm.KillResult{Status: st}
	if signalled {
		res.Signal = k.signal
		res.Forced = k.signal != "SIGKILL" && st.Exit != nil && (st.Exit.Signal == "SIGKILL" || st.Exit.Code == 128+9)
	}
	return res, nil
}

func (k *kill) survives(st swarm.Status) (swarm.KillResult, error) {
	name := strings.TrimPrefix(k.r.Job, jobPrefix)
	res := swarm.KillResult{Status: st, Signal: k.signal, Survivors: []swarm.Process{{Name: name}}}
	if k.alloc == nil {
		return res, fmt.Errorf("%w: '%s', which is not placed yet", swarm.ErrSurvivors, name)
	}
	return res, fmt.Errorf("%w: '%s' on node '%s'", swarm.ErrSurvivors, name, k.alloc.NodeName)
}

// deregister stops the job, or has Nomad forget it. Nomad does not mind if it did
// so before.
func (b *Backend) deregister(ctx context.Context, r ref, purge bool) error {
	_, _, err := b.client.Jobs().DeregisterOpts(r.Job, &api.DeregisterOptions{Purge: purge}, b.write(ctx, r.place))
	return b.explain(ctx, "stop the job", err)
}

// signal signals the main process of a worker. If the process has just ended, which Nomad
// may not report yet, the error is [swarm.ErrNotFound].
func (b *Backend) signal(ctx context.Context, r ref, alloc, signal string) error {
	err := b.client.Allocations().Signal(&api.Allocation{ID: alloc}, b.query(ctx, r.place), taskName, signal)
	if answer, ok := errors.AsType[api.UnexpectedResponseError](err); ok {
		// Nomad's executor leaves with the process that it supervises; Unavailable is its
		// socket without it. A driver forgets a task soon after its end.
		for _, text := range []string{"not running", "process already finished", "no such process", "task not found", "code = Unavailable"} {
			if strings.Contains(answer.Body(), text) {
				return fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
			}
		}
	}
	return b.explain(ctx, "send "+signal, err)
}

// intentPath is the path of the variable that says that a worker is being killed. A
// worker's name may have dots, which a path may not.
func intentPath(r ref) string { return "swarm/kill/" + r.ID }

// intend records that a worker is being killed, for calls that see its end before its job
// is stopped. It returns a function that removes the record. Without the right to write
// variables there is no record.
func (b *Backend) intend(ctx context.Context, r ref) (done func()) {
	v := &api.Variable{Namespace: r.Namespace, Path: intentPath(r), Items: api.VariableItems{metaName: r.Job}}
	if _, _, err := b.client.Variables().Update(v, b.write(ctx, r.place)); err != nil {
		b.log.Debug("no note of the kill", "worker", r.ID, "error", err)
		return func() {}
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), registerLimit)
		defer cancel()
		if _, err := b.client.Variables().Delete(v.Path, b.write(ctx, r.place)); err != nil {
			b.log.Debug("the note of the kill stays", "worker", r.ID, "error", err)
		}
	}
}

// wasKilled reports whether a worker whose task seems to have ended by itself was ended by
// Kill: its job has been stopped since, or is about to be.
func (b *Backend) wasKilled(ctx context.Context, a *api.AllocationListStub, j *api.JobListStub, r ref) bool {
	if j == nil || eventOf(a.TaskStates[taskName], api.TaskSignaling) == nil {
		return false
	}
	if j.Stop {
		return true
	}
	if _, _, err := b.client.Variables().GetVariableItems(intentPath(r), b.query(ctx, r.place)); err == nil {
		return true
	}
	// The note is taken back once the job is stopped.
	now, err := b.info(ctx, r.place, r.Job)
	return err == nil && now.Meta[metaID] == r.ID && now.Stop != nil && *now.Stop
}
