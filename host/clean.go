package host

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
