package shell

import (
	"context"

	"github.com/swarmhost/swarm/host"
)

// Output is what a shell wrote since it was asked last.
type Output struct {
	Shell Shell
	// Text is what is new, as valid UTF-8.
	Text string
	// More says that there is more already.
	More bool
}

// Next returns what a shell wrote since the last call, in whichever process that
// was: no byte is returned twice. filter is a regular expression (RE2) which the
// lines must match; others count as read. It is a [FilterError] if it can't be
// read. A shell that the session does not have is a [NotFoundError].
func Next(ctx context.Context, h *host.Host, s Session, id, filter string) (Output, error) {
	return Output{}, errNotYet
}

// FilterError says what is wrong with a filter.
type FilterError struct{ Err error }

func (e *FilterError) Error() string { return "invalid filter: " + e.Err.Error() }

func (e *FilterError) Unwrap() error { return e.Err }
