package swarm

import (
	"context"
	"time"
)

// Rescuer is a capability of a workspace plugin: it finds and restores the work that Remove
// saved. It needs no record of the worker, since saved work outlives the record.
type Rescuer interface {
	// Rescue carries out req.Action and returns the saved work that req selects, the oldest
	// first. A base without saved work is not an error; a base that workspaces can't be
	// made from is [ErrInvalidSpec]. A Ref that names no saved work is [ErrNotFound]. After
	// an error nothing was changed.
	Rescue(ctx context.Context, req RescueRequest) ([]SavedWork, error)
}

// RescueAction is what [Rescuer] does with saved work. A plugin refuses an unknown action
// with [ErrUnsupported].
type RescueAction string

const (
	// RescueList does nothing.
	RescueList RescueAction = ""
	// RescueRestore makes a directory with the work as Remove found it, such as a worktree
	// with its index. The saved work is kept. It never overwrites anything: an existing
	// path is [ErrInvalidSpec].
	RescueRestore RescueAction = "restore"
	// RescueDrop deletes the saved work for good.
	RescueDrop RescueAction = "drop"
)

// RescueRequest selects saved work. The zero Action lists it.
type RescueRequest struct {
	// Base is a directory in the source of workspaces, as in [WorkspaceSpec]; absolute.
	Base string
	// Ref selects the work with that [Rescue.Ref]; empty selects all work of the base, for
	// RescueList only.
	Ref    string
	Action RescueAction
	// Into is the directory for RescueRestore, absolute. Empty: the directory that Create
	// would use for a worker of that name.
	Into string
	// Host is the machine of Base and Into, as in [WorkspaceRef].
	Host string
}

// SavedWork is work that Remove saved.
type SavedWork struct {
	// Ref names it, as in [Rescue].
	Ref string
	// Name is the name of the worker that did the work; empty if not known.
	Name string
	// Base is the source of the workspace, and Host its machine, as in [WorkspaceRef].
	Base, Host string
	// Time is when it was saved; zero if not known.
	Time time.Time
	// Title describes it in a few words.
	Title string
	// Files are the changed files, if the work was selected by Ref.
	Files []FileChange
	// Path is the directory that RescueRestore made; otherwise empty.
	Path string
	// Note is one line that the user should know about the restored work, or empty.
	Note string
}

// FileChange is a file that differs between two states.
type FileChange struct {
	// Path is relative to the top of the workspace.
	Path string
	// Added and Removed count lines; both are -1 for a file that is not text.
	Added, Removed int
}

// Differ is a capability of a workspace plugin: it reports the changes in a workspace since
// it was made.
type Differ interface {
	// Diff compares the current files of the workspace, including uncommitted and new ones,
	// with the state from which Create made it. It changes nothing in the workspace. A
	// workspace that no longer exists is [ErrNotFound].
	Diff(ctx context.Context, ref WorkspaceRef, o DiffOptions) (Diff, error)
}

// DiffOptions are the options of a comparison. The zero value asks for the whole comparison.
type DiffOptions struct {
	// Summary asks for figures only: Command may be empty, and Diff has to return soon,
	// since a list of all workers waits for it.
	Summary bool
	// Colour says whether Command prints colours. With any other value, the program behind
	// it decides.
	Colour Colour
}

// Colour says whether a command prints colours.
type Colour string

// The colours of a command.
const (
	ColourAlways Colour = "always"
	ColourNever  Colour = "never"
)

// Diff is a comparison of a workspace with the state from which it was made.
type Diff struct {
	// Files are the changed files.
	Files []FileChange
	// Command prints the differences in full, in the unified format of git, with colours and a
	// pager if it runs on a terminal: the host starts no pager. It must not run programs that the
	// workspace itself configures.
	//
	// It runs in the working directory and the environment of the caller, with Env and Unset, and
	// may take the place of the caller's process. An exit code other than 0 is a failure: a
	// command that says by 1 that there are differences, as diff does, is wrapped. The host
	// also runs it without a terminal, and reads its output.
	Command []string
	// Env are variables to add to the environment of Command, Unset variables to remove.
	Env, Unset []string
	// Ahead is how many commits the workspace has that its current base does not have, and
	// Behind how many the base has that the workspace does not have; nil: not known.
	Ahead, Behind *int
}
