package host

import "context"

// CleanRequest says how to clean.
type CleanRequest struct {
	// KeepWorkspace leaves the workspaces where they are.
	KeepWorkspace bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool
	// Done is called with each outcome in the order of the selection; nil:
	// nobody.
	Done func(CleanOutcome)
}

// CleanOutcome says what came of the cleaning of one worker.
type CleanOutcome struct {
	Worker Worker
	// Err is nil if the worker's record is gone. [ErrRunning] if it runs.
	Err error
	// Warnings are about this worker's workspace.
	Warnings []Warning
	// Notices are as in [KillOutcome].
	Notices []string
	// WorkspaceRemoved is as in [KillOutcome].
	WorkspaceRemoved bool
}

// Clean removes what is left of stopped workers: workspace, run directory,
// record. With All or Tag it passes over workers that run; a running worker that
// is named is an [ErrRunning] in its outcome. An unknown name is an
// [ErrNotFound], and nothing was touched then.
func (h *Host) Clean(ctx context.Context, sel Selection, req CleanRequest) ([]CleanOutcome, error) {
	return nil, errTODO
}
