package host

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// KillRequest says how to kill. Its zero value follows each worker's policy.
type KillRequest struct {
	// Signal, Grace and Force take the place of what the workers' policies say;
	// empty or nil: the policy's.
	Signal string
	Grace  *time.Duration
	Force  *bool
	// RemoveWorkspace removes the workspace of each worker after it ended.
	RemoveWorkspace bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool

	// Progress is told what happens, as it happens; nil: nobody.
	Progress func(KillEvent)
	// Done is called with each outcome in the order of the selection, each as
	// soon as it and all before it are known; nil: nobody.
	Done func(KillOutcome)
	// Warn is called with what is said of no worker in particular, after the last
	// Done; nil: nobody.
	Warn func(Warning)
	// Answer is called once with all outcomes, last of all, when everything is
	// recorded. A worker that the caller itself runs in is told to end only
	// after it returned: what has to be said must be written by then, since
	// Kill may never return.
	Answer func([]KillOutcome)

	// Allowed says that whoever asks was found to have the right: who calls is not
	// looked at.
	Allowed bool
	// Recorded is called for each worker in the change that records its end, also if
	// that was recorded before, in the place of what becomes of its agent otherwise;
	// an error undoes that change. It is not called for the worker that the caller
	// runs in, nor for one whose end is not known. nil: nobody.
	Recorded func(ctx context.Context, tx *registry.Tx, rec registry.Record) error

	// respawn says that the worker is started again right after it.
	respawn bool
}

// KillEvent tells that a kill began or that it is done.
type KillEvent struct {
	// Worker is the worker's name.
	Worker string
	// Done is false when the kill of this worker begins, true when it is over,
	// one way or the other.
	Done bool
	// Deadline is when its grace is over.
	Deadline time.Time
}

// KillOutcome says what came of the kill of one worker.
type KillOutcome struct {
	// Worker is as it is now.
	Worker Worker
	// Result says what the backend did. It is zero if the worker had been
	// stopped before.
	Result swarm.KillResult
	// Err is nil if nothing of the worker is left. Its text names the worker.
	Err error
	// Warnings are about this worker's workspace.
	Warnings []Warning
	// Notices are one line each that the user should see, such as how to bring
	// back work that was saved from a workspace.
	Notices []string
	// WorkspaceRemoved says that there was a workspace and that it was removed.
	WorkspaceRemoved bool
}

// Kill ends the selected workers, all at the same time. An unknown name is an
// [ErrNotFound], and nothing was touched then, nor if one of them is of a team that
// the caller does not lead. Whatever happens to one worker
// afterwards is in its outcome and does not stop the others; outcomes are in the
// order of the selection.
func (h *Host) Kill(ctx context.Context, sel Selection, req KillRequest) ([]KillOutcome, error) {
	if req.Signal != "" {
		name, err := swarm.ParseSignal(req.Signal)
		if err != nil {
			return nil, err
		}
		req.Signal = name
	}
	recs, warnings, err := h.chooseNamed(ctx, sel)
	if err != nil {
		return nil, err
	}
	if !req.Allowed {
		if err := h.mayEnd(ctx, recs...); err != nil {
			return nil, err
		}
	}
	if recs, err = h.withoutEnded(ctx, sel, recs); err != nil {
		return nil, err
	}
	k := newKilling(h, req, recs)
	// Who answers for the workers of a registry that can't be read in parts.
	for _, w := range warnings {
		k.warn(Warning{Text: w})
	}
	k.run(ctx)
	k.sweep(ctx)
	k.drop(ctx)
	return k.finish(ctx)
}

// options are those of the kill of one worker: its policy, then the request.
func (req KillRequest) options(policy swarm.KillOptions) swarm.KillOptions {
	if req.Signal != "" {
		policy.Signal = req.Signal
	}
	if req.Grace != nil {
		policy.Grace = *req.Grace
	}
	if req.Force != nil {
		policy.Force = *req.Force
	}
	return policy
}
