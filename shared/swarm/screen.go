package swarm

import "context"

// ScreenOptions say what of a screen to read.
type ScreenOptions struct {
	// Lines is how many of the last lines to return at most, those above the
	// visible screen included; 0: the visible screen.
	Lines int
}

// Screen is what a terminal shows.
type Screen struct {
	// Lines are its lines as text, without colours and without blanks at their
	// ends; empty lines at the end of the screen are left out.
	Lines []string
	// Taken says that the worker has ended and that this is what its terminal
	// showed last.
	Taken bool
}

// Screener reads the screens of workers that run on a terminal, of ended ones
// too. Without it the host shows the last lines of the output.
type Screener interface {
	// Screen returns what the terminal shows. A screen that is gone for ever is
	// [ErrNotFound].
	Screen(ctx context.Context, h Handle, o ScreenOptions) (Screen, error)
}

// MaxScreens is the largest number of screens in one call. The SDK splits what is
// more.
const MaxScreens = 100

// BatchScreener reads many screens with one look. Without it the host calls Screen for
// each.
type BatchScreener interface {
	// ScreenBatch returns one result for each handle, in their order, each what Screen
	// would have returned. An error is returned only if none can be answered.
	ScreenBatch(ctx context.Context, hs []Handle, o ScreenOptions) ([]ScreenResult, error)
}

// ScreenResult is the answer for one worker of a batch: a screen or the error that
// Screen would have returned.
type ScreenResult struct {
	Screen Screen
	Err    error
}

// AttachOptions tell a backend about the terminal that is to be attached.
type AttachOptions struct {
	// Env is the caller's environment, KEY=VALUE: a terminal multiplexer finds out
	// from it that the caller is inside of it. It is set for local backends only.
	Env []string
}

// Attachment is a program that connects a person's terminal with a worker.
type Attachment struct {
	// Command is the program and its arguments. The host runs it in its own place.
	Command []string
	// Unset are variables that the program must not have.
	Unset []string
}

// Attacher lets a person take part in a worker.
type Attacher interface {
	// Attach returns how to connect a terminal with the worker. It changes
	// nothing. A worker that has ended is [ErrNotFound].
	Attach(ctx context.Context, h Handle, o AttachOptions) (Attachment, error)
}
