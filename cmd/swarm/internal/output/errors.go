package output

import (
	"errors"
	"fmt"
)

// The exit codes that are the same for all verbs.
const (
	ExitFailed = 1
	ExitUsage  = 2
	// ExitLimited and ExitBroken say that an agent stopped at a usage limit, or with an
	// error.
	ExitLimited = 4
	ExitBroken  = 5
	// ExitAsks, ExitEnded and ExitStalled are other ends of an agent's turn.
	ExitAsks    = 3
	ExitEnded   = 6
	ExitStalled = 7
	// ExitTimeout says that the time of a verb had ended.
	ExitTimeout = 124
)

// UsageError is a command line that makes no sense.
type UsageError struct{ Text, Hint string }

func (e *UsageError) Error() string { return e.Text }

func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// CodeError ends the call with a code of its own. Without Err, everything has been printed
// already.
type CodeError struct {
	Code int
	Err  error
}

func (e *CodeError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *CodeError) Unwrap() error { return e.Err }

// Failed ends the call with 1 after everything has been printed.
var Failed = &CodeError{Code: ExitFailed}

// HintError adds what to do about err.
type HintError struct {
	Err  error
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() }

func (e *HintError) Unwrap() error { return e.Err }

// WithHint adds a hint to err. A usage error keeps the hint that it has.
func WithHint(err error, hint string) error {
	usage, ok := errors.AsType[*UsageError](err)
	switch {
	case hint == "" || ok && usage.Hint != "":
	case ok:
		usage.Hint = hint
	default:
		return &HintError{Err: err, Hint: hint}
	}
	return err
}

// DidYouMean is a hint at the name that was probably meant, or another hint if no name is near.
func DidYouMean(near, otherwise string) string {
	if near == "" {
		return otherwise
	}
	return fmt.Sprintf("did you mean '%s'?", near)
}
