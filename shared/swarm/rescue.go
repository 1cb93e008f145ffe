package swarm

import (
	"context"
	"time"
)

// Rescuer is a capability of a workspace plugin: it finds the work that Remove saved, and
// brings it back. It needs no record of a worker, since saved work outlives that.
type Rescuer interface {
	// Rescue returns the saved work that req selects, the oldest first, after it has
	// carried out req.Action. A base that holds no saved work has none, which is not an
	// error; one that is not what workspaces are made of is [ErrInvalidSpec]. A Ref that
	// names no saved work is [ErrNotFound]. With an error nothing was changed.
	Rescue(ctx context.Context, req RescueRequest) ([]SavedWork, error)
}

// RescueAction is what [Rescuer] does with saved work. A plugin refuses an action that it
// does not know with [ErrUnsupported].
type RescueAction string

const (
	// RescueList does nothing.
	RescueList RescueAction = ""
	// RescueRestore makes a directory that holds the work as it was, in the form in which
	// Remove found it, such as a worktree with its index. The saved work stays. It never
	// overwrites anything: a path that is taken is [ErrInvalidSpec].
	RescueRestore RescueAction = "restore"
	// RescueDrop deletes the saved work for good.
	RescueDrop RescueAction = "drop"
)

// RescueRequest selects saved work. The zero Action lists it.
type RescueRequest struct {
	// Base is a directory in what workspaces are made of, as in [WorkspaceSpec]; absolute.
	Base string
	// Ref selects the work that [Rescue] named so; empty: all of the base, for RescueList
	// alone.
	Ref    string
	Action RescueAction
	// Into is the directory for RescueRestore, absolute. Empty: the one in which Create
	// would make a workspace for a worker of that name.
	Into string
	// Host is the machine of Base and Into, as in [WorkspaceRef].
	Host string
}

// SavedWork is work that Remove saved.
type SavedWork struct {
	// Ref names it, as in [Rescue].
	Ref string
	// Name is the name of the worker whose work it was, as far as it can be told.
	Name string
	// Base is what the workspace was made of, and Host the machine of that, as in
	// [WorkspaceRef].
	Base, Host string
	// Time is when it was saved; zero if not known.
	Time time.Time
	// Title says what it is, in a few words.
	Title string
	// Files are the changed files, if a Ref selected it.
	Files []FileChange
	// Path is where RescueRestore put it; else empty.
	Path string
	// Note is what the user should know about the restored work, one line, or empty.
	Note string
}

// FileChange is a file that differs between two states.
type FileChange struct {
	// Path is relative to the top of the workspace.
	Path string
	// Added and Removed count lines; both are -1 for a file that is not text.
	Added, Removed int
}

// Differ is a capability of a workspace plugin: it tells what the work in a workspace has
// changed since the workspace was made.
type Differ interface {
	// Diff compares the files of the workspace now, uncommitted and new ones too, with the
	// state from which Create made it. It changes nothing in the workspace. A workspace
	// that is gone is [ErrNotFound].
	Diff(ctx context.Context, ref WorkspaceRef, o DiffOptions) (Diff, error)
}

// DiffOptions say which comparison is asked for. The zero value asks for all of it.
type DiffOptions struct {
	// Summary asks for figures alone: Command may be empty, and the answer has to come soon,
	// since a list of all workers waits for it.
	Summary bool
	// Colour says whether Command prints colours. Empty, and any other value, is as the
	// program behind it decides.
	Colour Colour
}

// Colour says whether a command prints colours.
type Colour string

// The colours of a command.
const (
	ColourAlways Colour = "always"
	ColourNever  Colour = "never"
)

// Diff is a comparison of a workspace with its beginning.
type Diff struct {
	// Files are the changed files.
	Files []FileChange
	// Command prints the differences in full, with colours and a pager if it runs on a
	// terminal. Nothing that the workspace itself configures may run a program in it.
	Command []string
	// Env are variables to add to the environment of Command, Unset those to take away.
	Env, Unset []string
	// Ahead is how many commits the workspace has that its base does not have, as the base
	// is now, and Behind how many the base has that the workspace does not have; nil: that is
	// not known.
	Ahead, Behind *int
}
