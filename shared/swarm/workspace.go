package swarm

import "context"

// Workspace makes and removes directories for workers. It is the one interface
// that a workspace plugin has to implement.
//
// Work is never lost: a workspace with work that exists nowhere else is not removed, and
// neither is one for which this is in doubt.
//
// A [Backend] that is not local may implement it too, which is [CapWorkspaces]: it then makes
// the workspaces of its own workers, on their machines. All paths are paths on that machine.
type Workspace interface {
	// Create makes the workspace. After an error nothing is left behind; what a Create leaves
	// whose process was killed is found by [WorkspaceFinder]. Invalid
	// input (a base that is no source of workspaces, a branch in use, an existing path, an
	// unknown option) is [ErrInvalidSpec].
	Create(ctx context.Context, spec WorkspaceSpec) (WorkspaceRef, error)

	// Inspect reports what Remove would do. It changes nothing. A workspace that no
	// longer exists is Missing, not an error.
	Inspect(ctx context.Context, ref WorkspaceRef, opts RemoveOptions) (WorkspaceState, error)

	// Remove removes the workspace, exactly the recorded path and nothing else, or
	// keeps it and says why; keeping it is a result, not an error. A workspace that no
	// longer exists counts as removed. After an error no files of the user were removed.
	Remove(ctx context.Context, ref WorkspaceRef, opts RemoveOptions) (RemoveResult, error)
}

// WorkspaceFinder is a capability of a workspace plugin: it recovers a workspace after the host or
// the plugin was killed in Create, or before the host had recorded it. Without it, what such a
// Create has left stays.
type WorkspaceFinder interface {
	// FindWorkspace returns the workspace that Create made from spec, or
	// [ErrNotFound]. It removes what a Create has left that was cut off, which is
	// ErrNotFound then. The host undoes what it returns by Remove with Undo, or keeps it.
	FindWorkspace(ctx context.Context, spec WorkspaceSpec) (WorkspaceRef, error)
}

// WorkspaceSpec describes the workspace to make.
type WorkspaceSpec struct {
	// ID and Name are the worker's, as in [Spec].
	ID, Name string
	// Base is a directory in the source of the workspace, such as a repository;
	// absolute.
	Base string
	// Branch is the branch to check out, made if it does not exist. Empty: Name. A plugin
	// whose workspaces have no branch refuses one that is not empty with [ErrInvalidSpec].
	Branch string
	// Parent is the directory to make the workspace in, absolute or relative to
	// the parent of the base. Empty: the plugin's default.
	Parent string
	// Options are settings of this workspace that only the plugin understands, from the user.
	// An unknown key, and a value that the plugin can't use, are [ErrInvalidSpec] that names
	// the key. A backend that makes workspaces gets the options of the worker in their place,
	// as in [Spec].
	Options map[string]string
}

// WorkspaceRef identifies a workspace. The host stores it.
type WorkspaceRef struct {
	// ID is the id of the worker that it was made for.
	ID string
	// Name is the name of that worker; rescued work is filed under it.
	Name string
	// Path is the directory, absolute.
	Path string
	// Branch is what was checked out when it was made; empty if the workspace has no branch.
	Branch string
	// Base is the source that it was made from, such as the main working tree of the
	// repository; absolute.
	Base string
	// Dir is the directory in Path that corresponds to the Base of the spec, such as
	// the same directory of a repository; relative to Path. Empty: Path itself.
	Dir string
	// Host names the machine that Path and Base are on, for people and for the backend that
	// made the workspace. Empty: this machine. A backend that makes workspaces always sets it.
	Host string `json:",omitempty"`
	// Handle is for the plugin alone, as that of a worker is for its backend. Zero if the plugin
	// needs none; then it answers [ErrInvalidHandle] to any other.
	Handle Handle `json:",omitzero"`
}

// Location returns the path of the workspace, with its host if that is not this machine.
func (r WorkspaceRef) Location() string { return OnHost(r.Host, r.Path) }

// OnHost returns HOST:PATH, or the path if there is no host.
func OnHost(host, path string) string {
	if host == "" {
		return path
	}
	return host + ":" + path
}

// RemoveOptions say how to remove a workspace.
type RemoveOptions struct {
	// Force removes a workspace with work that exists nowhere else, such as uncommitted changes,
	// which is saved first.
	Force bool
	// Vacant is for Inspect: ignore processes that run in the workspace, because the
	// caller is about to end them. Remove never ignores them. The host ends the worker before
	// Remove; a plugin that looks for other processes in the workspace, such as the shell of a
	// person, keeps it for them, and not Forceable. A plugin that does not look for
	// processes has no use for this field.
	Vacant bool
	// Undo is for Remove: it undoes a Create whose worker did not start. Anything that this
	// Create made in addition to the workspace, such as a branch or a directory above it, is
	// removed too if it is unchanged.
	Undo bool
}

// WorkspaceState is the state of a workspace.
type WorkspaceState struct {
	// Missing says that it no longer exists.
	Missing bool
	// Kept says why Remove would keep it; nil if Remove would remove it.
	Kept *Kept
}

// Kept is why a workspace was not removed.
type Kept struct {
	// Reason is one line, such as "worktree has 2 uncommitted change(s)".
	Reason string
	// Forceable says that RemoveOptions.Force would remove it.
	Forceable bool
}

// RemoveResult is the result of a Remove.
type RemoveResult struct {
	// Kept is set if it was not removed.
	Kept *Kept
	// Rescues are the pieces of work that were saved before the removal.
	Rescues []Rescue
	// Astray says that the workspace was not at its place, and that nothing shows that it was
	// removed: it may have been moved.
	Astray bool
}

// Rescue is work that was saved.
type Rescue struct {
	// Ref names it, such as a git ref.
	Ref string
	// Command is the shell command that restores it. The host shows it, unless the plugin is a
	// [Rescuer]: then it shows its own command, which asks that.
	Command string
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
