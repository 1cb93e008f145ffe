package swarm

import "errors"

// The errors of the contract. Wrap them with %w; the SDK carries them over the
// wire, and [errors.Is] finds them on the other side.
var (
	// ErrInvalidSpec: the request can't be carried out; the text says what to change.
	ErrInvalidSpec = errors.New("invalid request")
	// ErrInvalidConfig: the plugin's settings are invalid; the text names the key.
	ErrInvalidConfig = errors.New("invalid plugin config")
	// ErrInvalidHandle: the handle is damaged or has a version that this plugin does
	// not know.
	ErrInvalidHandle = errors.New("invalid handle")
	// ErrStaleHandle: the handle points to something that no longer belongs to the
	// worker. Nothing was changed.
	ErrStaleHandle = errors.New("stale handle")
	// ErrNotFound: there is no such worker, workspace or output.
	ErrNotFound = errors.New("not found")
	// ErrExists: a worker with that id already exists.
	ErrExists = errors.New("already exists")
	// ErrSurvivors: processes of the worker are still alive after Kill.
	ErrSurvivors = errors.New("still alive")
	// ErrUnsupported: the plugin does not have this capability.
	ErrUnsupported = errors.New("not supported by this plugin")
	// ErrPermission: the operating system or the engine refused.
	ErrPermission = errors.New("permission denied")
	// ErrTooLate: the worker is already being ended or has ended.
	ErrTooLate = errors.New("too late")
	// ErrUnavailable: the engine behind the plugin can't be reached at the moment.
	ErrUnavailable = errors.New("unavailable")
)

// specError is an [ErrInvalidSpec] followed by a text. The contract does not link fmt: the
// shim links the contract and has to stay small.
type specError struct{ text string }

func (e *specError) Error() string { return ErrInvalidSpec.Error() + ": " + e.text }
func (e *specError) Unwrap() error { return ErrInvalidSpec }
