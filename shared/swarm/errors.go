package swarm

import "errors"

// The errors of the contract. Wrap them with %w; the SDK carries them over the
// wire, and [errors.Is] finds them on the other side.
var (
	// ErrInvalidSpec: what was asked for can't be carried out; the text says what
	// to change.
	ErrInvalidSpec = errors.New("invalid request")
	// ErrInvalidConfig: the plugin's own settings are wrong; the text names the
	// key.
	ErrInvalidConfig = errors.New("invalid plugin config")
	// ErrInvalidHandle: the handle is damaged or of a version that this plugin
	// does not know.
	ErrInvalidHandle = errors.New("invalid handle")
	// ErrStaleHandle: what the handle points to is now someone else's. Nothing
	// was touched.
	ErrStaleHandle = errors.New("stale handle")
	// ErrNotFound: there is no such worker, workspace or output.
	ErrNotFound = errors.New("not found")
	// ErrExists: a worker of that id exists already.
	ErrExists = errors.New("already exists")
	// ErrSurvivors: something of the worker is still alive after Kill.
	ErrSurvivors = errors.New("still alive")
	// ErrUnsupported: the plugin does not have this capability.
	ErrUnsupported = errors.New("not supported by this plugin")
	// ErrPermission: the operating system or the engine refused.
	ErrPermission = errors.New("permission denied")
	// ErrTooLate: the worker is being ended, or has ended, already.
	ErrTooLate = errors.New("too late")
	// ErrUnavailable: the engine behind the plugin can't be reached now.
	ErrUnavailable = errors.New("unavailable")
)

// specError is an [ErrInvalidSpec] with a text after it. The contract does not link
// fmt, so that the shim can use it.
type specError struct{ text string }

func (e *specError) Error() string { return ErrInvalidSpec.Error() + ": " + e.text }
func (e *specError) Unwrap() error { return ErrInvalidSpec }
