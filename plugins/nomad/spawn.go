package nomad

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Spawn registers the worker's job and waits until its task runs, or did, so that
// what can't be placed or started is an error of the spawn. What takes longer than
// the start timeout, such as a large image, is left to go on.
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (_ swarm.Handle, err error) {
	j, r, err := b.config.newJob(b.at, spec)
	if err != nil {
		return swarm.Handle{}, err
	}
	h, err := r.encode()
	if err != nil {
		return swarm.Handle{}, err
	}
	eval, err := b.register(ctx, j, r)
	if err != nil {
		return swarm.Handle{}, err
	}
	defer func() {
		if err != nil {
			b.undo(ctx, r)
		}
	}()
	if err = b.awaitPlace(ctx, r, eval); err != nil {
		return swarm.Handle{}, err
	}
	if err = b.awaitStart(ctx, r); err != nil {
		return swarm.Handle{}, err
	}
	b.log.Debug("worker started", "worker", spec.ID)
	return h, nil
}

// register registers the job under a name that no living worker has, and returns
// the evaluation that places it.
func (b *Backend) register(ctx context.Context, j job, r ref) (string, error) {
	eval, err := b.enforce(ctx, j, r, 0)
	if err == nil || !isConflict(err) {
		return eval, b.tell(ctx, "register the job", err)
	}
	old, err := b.info(ctx, r.place, r.Job)
	if err != nil {
		return "", err
	}
	switch theirs, _, ours := refOf(r.place, *old.ID, old.Meta); {
	case !ours:
		return "", fmt.Errorf("%w: the namespace '%s' has a job '%s' that is no worker of swarm: choose another name",
			swarm.ErrInvalidSpec, r.Namespace, r.Job)
	case theirs.ID == r.ID:
		return "", fmt.Errorf("%w: worker %s in the namespace '%s'", swarm.ErrExists, r.ID, r.Namespace)
	case *old.Status != "dead":
		return "", b.taken(r)
	}
	// The job of a worker that has ended. Whoever is first gets its name.
	eval, err = b.enforce(ctx, j, r, *old.JobModifyIndex)
	if err != nil && isConflict(err) {
		return "", b.taken(r)
	}
	return eval, b.tell(ctx, "register the job", err)
}

func (b *Backend) taken(r ref) error {
	return fmt.Errorf("%w: the namespace '%s' has a worker '%s' already: choose another name, or take it over with 'swarm adopt'",
		swarm.ErrInvalidSpec, r.Namespace, strings.TrimPrefix(r.Job, jobPrefix))
}

// enforce registers the job if the one of that name is at the index; 0: if there
// is none. The client of the API would drop fields that it does not know.
func (b *Backend) enforce(ctx context.Context, j job, r ref, index uint64) (string, error) {
	req := struct {
		Job            job
		EnforceIndex   bool
		JobModifyIndex uint64
	}{j, true, index}
	var resp api.JobRegisterResponse
	_, err := b.client.Raw().Write("/v1/jobs", req, &resp, b.write(ctx, r.place))
	return resp.EvalID, err
}

// isConflict reports that a job is not at the index that was asked for.
func isConflict(err error) bool {
	var answer api.UnexpectedResponseError
	return errors.As(err, &answer) && answer.StatusCode() == http.StatusInternalServerError &&
		strings.Contains(answer.Body(), api.RegisterEnforceIndexErrPrefix)
}

// awaitPlace waits until Nomad has decided where the worker runs.
func (b *Backend) awaitPlace(ctx context.Context, r ref, eval string) error {
	var index uint64
	for {
		q := b.query(ctx, r.place)
		q.WaitIndex, q.WaitTime = index, longPoll
		e, meta, err := b.client.Evaluations().Info(eval, q)
		if err != nil {
			return b.tell(ctx, "wait for a node", err)
		}
		index = meta.LastIndex
		if m := e.FailedTGAllocs[r.ID]; m != nil {
			return fmt.Errorf("%w: no node takes the worker: %s", swarm.ErrInvalidSpec, unplaceable(m))
		}
		switch e.Status {
		case "complete":
			return nil
		case "failed", "canceled":
			return fmt.Errorf("%w: Nomad did not place the worker: %s", swarm.ErrUnavailable, firstOf(firstLine(e.StatusDescription), e.Status))
		}
	}
}

// awaitStart waits until the task runs or has run, for as long as the settings say.
func (b *Backend) awaitStart(ctx context.Context, r ref) error {
	limited, cancel := context.WithTimeout(ctx, time.Duration(b.config.StartTimeout)*time.Second)
	defer cancel()
	var index uint64
	for {
		s, err := b.look(limited, r.place, r.Job, index)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil && limited.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		index = s.index
		a := s.allocs[r.ID]
		if a == nil || a.ClientStatus == api.AllocClientStatusPending {
			continue
		}
		return b.started(ctx, r, a)
	}
}

// started returns why a task that does not wait any more has not started.
func (b *Backend) started(ctx context.Context, r ref, a *api.AllocationListStub) error {
	if !ended(a) {
		return nil
	}
	e := exitOf(a, a.TaskStates[taskName])
	why := e.Reason
	if e.Cause != swarm.CauseNotStarted {
		if why = b.refused(ctx, r, a, e); why == "" {
			return nil
		}
	}
	return fmt.Errorf("%w: node '%s' can't start '%s': %s", swarm.ErrInvalidSpec, a.NodeName, strings.TrimPrefix(r.Job, jobPrefix), why)
}

// refused returns what a wrapper says about why it did not run the command, or "".
func (b *Backend) refused(ctx context.Context, r ref, a *api.AllocationListStub, e *swarm.Exit) string {
	if e.Code != 127 {
		return ""
	}
	q := b.query(ctx, r.place)
	q.Params["path"] = taskName + "/local/" + refusedFile
	f, err := b.client.Raw().Response("/v1/client/fs/cat/"+a.ID, q)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	why, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return ""
	}
	return firstLine(string(why))
}

// undoLimit is how long Nomad may take to forget a job.
const undoLimit = 10 * time.Second

// undo leaves nothing of a job whose spawn failed.
func (b *Backend) undo(ctx context.Context, r ref) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	if err := b.deregister(ctx, r, true); err != nil {
		b.log.Warn("the job of a worker that was not started is still there", "worker", r.ID, "error", err)
	}
}
