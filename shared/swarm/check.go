package swarm

import "context"

// SpawnChecker finds out beforehand whether a worker could be spawned. The host asks before it
// ends a worker whose place the new one takes.
type SpawnChecker interface {
	// CheckSpawn returns the error with which Spawn would fail for the spec, as far as that can be
	// found out without an effect: it starts nothing, makes nothing and reserves nothing, neither
	// for people to see nor for a later Spawn. A cache may be filled, such as an open connection.
	//
	// A nil error promises nothing. An error does: Spawn, called at this moment in the state that
	// SpawnCheck describes, would fail. In doubt CheckSpawn returns nil, since its error
	// keeps the old worker. The sentinels are those of [Backend.Spawn], and the text says what to
	// change. CheckSpawn may be repeated, and has to return within seconds.
	CheckSpawn(ctx context.Context, c SpawnCheck) error
}

// SpawnCheck is the Spawn that [SpawnChecker] is asked about.
type SpawnCheck struct {
	// Spec is what would be spawned. The ID is new, and Local.RunDir does not exist yet.
	Spec Spec
	// Replaces is the worker that has ended before the Spawn, although it may run now: its name and
	// whatever else it uses alone are free then. The zero value: no worker. A handle that can't be
	// read is ignored.
	Replaces Handle
	// NoWorkspace says that the workspace of the worker does not exist yet. Spec.Dir is then the
	// base of the workspace, in place of the directory in it, and Local.Workspace is empty: whatever
	// depends on the files there is not checked.
	NoWorkspace bool
}

// WorkspaceChecker is a capability of a workspace plugin: it finds out beforehand whether a
// workspace could be made.
type WorkspaceChecker interface {
	// CheckCreate returns the error with which Create would fail for the spec, under the
	// rules of [SpawnChecker.CheckSpawn].
	CheckCreate(ctx context.Context, c WorkspaceCheck) error
}

// WorkspaceCheck is the Create that [WorkspaceChecker] is asked about.
type WorkspaceCheck struct {
	// Spec is what would be made.
	Spec WorkspaceSpec
	// Removed is the workspace that is removed before, although it exists now: its path, and the
	// branch that is checked out in it, are free then. nil: no workspace is removed.
	Removed *WorkspaceRef
}
