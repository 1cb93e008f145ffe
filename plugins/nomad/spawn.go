package nomad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Spawn registers the worker's job and waits until its task runs, or did, so that
// a job that can't be placed or started is an error of the spawn. A start that takes
// longer than the start timeout, such as the start of a large image, continues.
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (_ swarm.Handle, err error) {
	j, r, err := b.config.newJob(b.at, spec)
	if err != nil {
		return swarm.Handle{}, err
	}
	h, err := r.encode()
	if err != nil {
		return swarm.Handle{}, err
	}
	if err := ctx.Err(); err != nil {
		return swarm.Handle{}, err
	}
	// Nomad may have received a request that was cut off: its effect is awaited and undone.
	registered, err := b.register(context.WithoutCancel(ctx), j, r)
	defer func() {
		if err != nil && !errors.Is(err, swarm.ErrExists) {
			b.undo(ctx, r)
		}
	}()
	if err != nil {
		return swarm.Handle{}, err
	}
	if err = b.awaitPlace(ctx, r, registered.EvalID); err != nil {
		return swarm.Handle{}, err
	}
	b.pin(ctx, j, r, registered.JobModifyIndex)
	if err = b.awaitStart(ctx, r, j.isWrapped()); err != nil {
		return swarm.Handle{}, err
	}
	b.log.Debug("worker started", "worker", spec.ID)
	return h, nil
}

const registerLimit = 10 * time.Second

// register registers the job under a name that no living worker has, and returns the answer,
// with the evaluation that places it.
func (b *Backend) register(ctx context.Context, j job, r ref) (api.JobRegisterResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, registerLimit)
	defer cancel()
	none := api.JobRegisterResponse{}
	resp, err := b.enforce(ctx, j, r, 0)
	if err == nil || !isConflict(err) {
		return resp, b.explain(ctx, "register the job", err)
	}
	old, err := b.info(ctx, r.place, r.Job)
	if err != nil {
		return none, err
	}
	switch theirs, _, ours := refOf(r.place, *old.ID, old.Meta); {
	case !ours:
		return none, b.foreign(r)
	case theirs.ID == r.ID:
		return none, fmt.Errorf("%w: worker %s in the namespace '%s'", swarm.ErrExists, r.ID, r.Namespace)
	case *old.Status != jobDead:
		// Nomad sees the end of a job some time after that of its worker.
		if ended, err := b.hasEnded(ctx, theirs); err != nil {
			return none, err
		} else if !ended {
			return none, b.taken(r)
		}
	}
	// The job belongs to a worker that has ended. The first caller gets its name.
	resp, err = b.enforce(ctx, j, r, *old.JobModifyIndex)
	if err != nil && isConflict(err) {
		return none, b.taken(r)
	}
	return resp, b.explain(ctx, "register the job", err)
}

// hasEnded reports whether the worker has ended and no second allocation of it may run.
func (b *Backend) hasEnded(ctx context.Context, r ref) (bool, error) {
	s, err := b.look(ctx, r.place, r.Job, 0)
	if err != nil {
		return false, err
	}
	return b.statusIn(ctx, s, r).State == swarm.StateExited && len(s.seconds[r.ID]) == 0, nil
}

func (b *Backend) foreign(r ref) error {
	return fmt.Errorf("%w: the namespace '%s' has a job '%s' that is not a worker of swarm: choose another name",
		swarm.ErrInvalidSpec, r.Namespace, r.Job)
}

func (b *Backend) taken(r ref) error {
	return fmt.Errorf("%w: the namespace '%s' has a worker '%s' already: choose another name, or take it over with 'swarm adopt'",
		swarm.ErrInvalidSpec, r.Namespace, strings.TrimPrefix(r.Job, jobPrefix))
}

// enforce registers the job if the one of that name is at the index; 0: if there
// is none. The client of the API would drop fields that it does not know.
func (b *Backend) enforce(ctx context.Context, j job, r ref, index uint64) (api.JobRegisterResponse, error) {
	req := struct {
		Job            job
		EnforceIndex   bool
		JobModifyIndex uint64
	}{j, true, index}
	var resp api.JobRegisterResponse
	_, err := b.client.Raw().Write("/v1/jobs", req, &resp, b.write(ctx, r.place))
	return resp, err
}

func isConflict(err error) bool {
	var answer api.UnexpectedResponseError
	return errors.As(err, &answer) && answer.StatusCode() == http.StatusInternalServerError &&
		strings.Contains(answer.Body(), api.RegisterEnforceIndexErrPrefix)
}

// pin registers the job again, for the node that takes it alone: so Nomad starts it on no other
// node when this one is drained or lost. Nomad changes the constraints of an allocation in place;
// but it would start one again that has ended, so the allocation must not have started yet.
// Without the pin a second allocation is stopped when a call sees it.
func (b *Backend) pin(ctx context.Context, j job, r ref, index uint64) {
	s, err := b.look(ctx, r.place, r.Job, 0)
	a := s.allocs[r.ID]
	if err != nil || a == nil || a.ClientStatus != api.AllocClientStatusPending || a.DesiredStatus != api.AllocDesiredStatusRun {
		b.log.Debug("the worker is not pinned to its node", "worker", r.ID, "error", err)
		return
	}
	pinned := *j.Job
	pinned.Constraints = append(slices.Clone(pinned.Constraints), api.NewConstraint("${node.unique.id}", "=", a.NodeID))
	j.Job = &pinned
	if _, err := b.enforce(ctx, j, r, index); err != nil && ctx.Err() == nil {
		b.log.Warn("the worker is not pinned to its node: if that is drained, Nomad may start it again", "worker", r.ID, "error", err)
	}
}

// awaitPlace waits until Nomad has decided where the worker runs.
func (b *Backend) awaitPlace(ctx context.Context, r ref, eval string) error {
	var index uint64
	for {
		q := b.query(ctx, r.place)
		q.WaitIndex, q.WaitTime = index, longPoll
		e, meta, err := b.client.Evaluations().Info(eval, q)
		if err != nil {
			return b.explain(ctx, "wait for a node", err)
		}
		index = meta.LastIndex
		if m := e.FailedTGAllocs[r.ID]; m != nil {
			return noNode(m)
		}
		switch e.Status {
		case "complete", "canceled": // in favour of a later one
			return nil
		case "failed":
			return fmt.Errorf("%w: Nomad did not place the worker: %s", swarm.ErrUnavailable, cmp.Or(firstLine(e.StatusDescription), e.Status))
		}
	}
}

func noNode(m *api.AllocationMetric) error {
	return fmt.Errorf("%w: no node takes the worker: %s", swarm.ErrInvalidSpec, unplaceable(m))
}

// awaitStart waits until the task runs or has run, for as long as the settings say. If
// several callers register a job of one name at the same moment, Nomad lets each replace
// the one before: the last one wins.
func (b *Backend) awaitStart(ctx context.Context, r ref, wrapped bool) error {
	limited, cancel := context.WithTimeout(ctx, time.Duration(b.config.StartTimeout)*time.Second)
	defer cancel()
	var index uint64
	for {
		s, err := b.look(limited, r.place, r.Job, index)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil && limited.Err() != nil:
			swarm.Warn(ctx, fmt.Sprintf("Nomad has not started it within %ds; it is pending", b.config.StartTimeout))
			return nil
		case err != nil:
			return err
		}
		index = s.index
		if j := s.jobs[r.Job]; j != nil && j.Meta[metaID] != r.ID {
			return b.taken(r)
		}
		a := s.allocs[r.ID]
		if a == nil || a.ClientStatus == api.AllocClientStatusPending {
			continue
		}
		return b.started(limited, r, a, wrapped)
	}
}

// started returns why a task that does not wait any more did not start.
func (b *Backend) started(ctx context.Context, r ref, a *api.AllocationListStub, wrapped bool) (err error) {
	why := ""
	if ended(a) {
		if e := exitOf(a, a.TaskStates[taskName]); e.Cause == swarm.CauseNotStarted {
			why = e.Reason
		}
	}
	if why == "" && wrapped {
		why = b.refused(ctx, r, a)
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%w: node '%s' can't start '%s': %s", swarm.ErrInvalidSpec, a.NodeName, strings.TrimPrefix(r.Job, jobPrefix), why)
}

// wrapperLimit is how long a wrapper may take to report that it runs the command, and
// reportLimit how long Nomad may take to read its report.
const (
	wrapperLimit = 20 * time.Second
	reportLimit  = 3 * time.Second
)

// refused returns why a wrapper does not run the command, or "".
func (b *Backend) refused(ctx context.Context, r ref, a *api.AllocationListStub) string {
	ctx, cancel := context.WithTimeout(ctx, wrapperLimit)
	defer cancel()
	for {
		said, err := b.report(ctx, r.place, a.ID)
		if errors.Is(err, swarm.ErrPermission) || said == wrapperRuns {
			return ""
		}
		if why, ok := strings.CutPrefix(said, wrapperRefuses); ok {
			return why
		}
		if sleep.For(ctx, 20*time.Millisecond) != nil {
			return ""
		}
	}
}

// report returns what the wrapper of an allocation reports; "" if it has not yet. It may be
// an error of Nomad, which comes as the text of the file if that is just being made.
func (b *Backend) report(ctx context.Context, at place, alloc string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, reportLimit)
	defer cancel()
	q := b.query(ctx, at)
	q.Params["path"] = taskName + "/local/" + wrapperFile
	f, err := b.client.Raw().Response("/v1/client/fs/cat/"+alloc, q)
	if err != nil {
		return "", b.explain(ctx, "read the wrapper's report", err)
	}
	defer func() { _ = f.Close() }()
	said, err := io.ReadAll(io.LimitReader(f, 4096))
	return firstLine(string(said)), err
}

func (b *Backend) undo(ctx context.Context, r ref) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), registerLimit)
	defer cancel()
	j, err := b.info(ctx, r.place, r.Job)
	if err == nil && j.Meta[metaID] == r.ID {
		err = b.deregister(ctx, r, true)
	}
	if err != nil && !errors.Is(err, swarm.ErrNotFound) {
		b.log.Warn("the job of a worker that was not started may be there still", "worker", r.ID, "error", err)
	}
}

// CheckSpawn implements [swarm.SpawnChecker]. Nomad plans the job, and carries out nothing.
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	j, r, err := b.config.newJob(b.at, c.Spec)
	if err != nil {
		return err
	}
	old, none := decode(c.Replaces)
	replaced := none == nil
	known, err := b.info(ctx, r.place, r.Job)
	switch {
	case errors.Is(err, swarm.ErrNotFound):
	case err != nil:
		return err
	default:
		theirs, _, ours := refOf(r.place, *known.ID, known.Meta)
		if !ours {
			return b.foreign(r)
		}
		if *known.Status != jobDead && (!replaced || theirs.ID != old.ID || theirs.place != old.place) {
			return b.taken(r)
		}
	}
	if replaced && (old.place != r.place || old.Job != r.Job) {
		return nil // the plan would not know what the old worker leaves free
	}
	var plan api.JobPlanResponse
	req := struct{ Job job }{j}
	if _, err := b.client.Raw().Write("/v1/job/"+url.PathEscape(r.Job)+"/plan", req, &plan, b.write(ctx, r.place)); err != nil {
		return b.explain(ctx, "plan the job", err)
	}
	if m := plan.FailedTGAllocs[r.ID]; m != nil {
		return noNode(m)
	}
	return nil
}
