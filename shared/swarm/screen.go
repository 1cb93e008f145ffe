package swarm

import (
	"context"
	"strconv"
)

// ScreenOptions select the part of a screen to read.
type ScreenOptions struct {
	// Lines is the largest number of last lines to return, including those above the
	// visible screen; 0: the visible screen.
	Lines int
	// Styles asks for [Screen.Styled] as well.
	Styles bool
}

// Screen is what a terminal shows.
type Screen struct {
	// Lines are its lines as text, without colours and trailing blanks; empty lines at
	// the end of the screen are left out.
	Lines []string
	// Styled are the same lines with SGR sequences that give their letters their colours
	// and attributes, if they were asked for. Each begins in the terminal's own style and
	// returns to it, and has no other sequence. It is nil if the backend does not know the
	// styles.
	Styled []string
	// Columns and Rows are the size of the terminal; 0: not known. A line may be longer than a
	// row: the rows of a line that the terminal wrapped are one line.
	Columns, Rows int
	// Cursor is where the cursor is; nil: not known. A screen with Taken has neither a size nor a
	// cursor.
	Cursor *Cursor
	// Taken says that the worker has ended and that this is what its terminal
	// showed last.
	Taken bool
}

// Cursor is the place of the cursor on the visible screen.
type Cursor struct {
	// Column counts from 0 at the left. It is the number of columns behind the last letter of a
	// full row. Row counts rows, not lines, from 0 at the top of the visible screen.
	Column, Row int
	// Visible says that the terminal shows the cursor.
	Visible bool
}

// Screener reads the screens of workers that run on a terminal, also after their end.
// Without it the host shows the last lines of the output.
type Screener interface {
	// Screen returns what the terminal shows. A screen that no longer exists is
	// [ErrNotFound].
	Screen(ctx context.Context, h Handle, o ScreenOptions) (Screen, error)
}

// MaxScreens is the largest number of screens in one call. The SDK splits larger batches.
const MaxScreens = 100

// BatchScreener reads many screens at once. Without it the host calls Screen for each.
type BatchScreener interface {
	// ScreenBatch returns one result for each handle, in order, as Screen would. It
	// returns an error only if it can't answer for any.
	ScreenBatch(ctx context.Context, hs []Handle, o ScreenOptions) ([]ScreenResult, error)
}

// ScreenResult is the result for one worker of a batch: a screen or the error that Screen
// would return.
type ScreenResult struct {
	Screen Screen
	Err    error
}

// MaxTerminal is the largest number of columns, and of rows, that [Resizer] is asked for.
const MaxTerminal = 1000

// Resizer sets the sizes of terminals.
type Resizer interface {
	// Resize sets the size of the terminal of a running worker, whose foreground processes get
	// SIGWINCH as from any terminal. When it returns nil, [Screen] has the size, until a person
	// who attaches brings another one. It may be repeated.
	//
	// Errors: [ErrInvalidSpec] for a worker that is on no terminal, and for a size that
	// [CheckSize] refuses, as the SDK does; [ErrNotFound] for a worker that has ended.
	Resize(ctx context.Context, h Handle, columns, rows int) error
}

// CheckSize returns an [ErrInvalidSpec] if a terminal can't have that many columns and rows.
func CheckSize(columns, rows int) error {
	for _, n := range []int{columns, rows} {
		if n < 1 || n > MaxTerminal {
			return &specError{"a terminal of " + strconv.Itoa(columns) + " columns and " + strconv.Itoa(rows) + " rows: expected numbers from 1 to " + strconv.Itoa(MaxTerminal)}
		}
	}
	return nil
}

// AttachOptions describe the terminal to attach, and what it may do.
type AttachOptions struct {
	// Env is the caller's environment, KEY=VALUE, by which a terminal multiplexer
	// notices that the caller runs inside it. It is set for local backends only.
	Env []string
	// ReadOnly asks for a program that shows the worker and gives it no input.
	ReadOnly bool
}

// Attachment is a program that connects a person's terminal with a worker.
type Attachment struct {
	// Command is the program and its arguments. It replaces the host's process.
	Command []string
	// Env are variables to add to the environment of Command, KEY=VALUE, and Unset variables to
	// remove.
	Env, Unset []string
	// Leave says how to leave the worker alone again, in one line for the user, such as "C-b d
	// leaves"; empty if the program itself says so.
	Leave string
	// ReadOnly says that the worker gets no input. A backend that does not know
	// [AttachOptions.ReadOnly] leaves it false, and the host then does not run the program.
	ReadOnly bool
}

// Attacher lets a person take part in a worker.
type Attacher interface {
	// Attach returns how to connect a terminal with the worker. It changes
	// nothing. A worker that has ended is [ErrNotFound].
	Attach(ctx context.Context, h Handle, o AttachOptions) (Attachment, error)
}
