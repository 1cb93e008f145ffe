package wire

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ErrGone is [github.com/swarmhost/swarm/shared/plugin.ErrPluginGone].
var ErrGone = errors.New("the plugin is gone")

// errTooLarge means that one side sent more than the other accepts.
var errTooLarge = errors.New("a message between swarm and the plugin is larger than allowed")

// table maps the errors of the contract to their form on the wire. The same table is in
// shared/proto/swarm/plugin/v1/plugin.proto, for authors of plugins in other languages.
// A status without detail is read as the first row of its code.
var table = []struct {
	err    error
	reason string
	code   codes.Code
}{
	{swarm.ErrInvalidSpec, "INVALID_SPEC", codes.InvalidArgument},
	{swarm.ErrInvalidConfig, "INVALID_CONFIG", codes.InvalidArgument},
	{swarm.ErrInvalidHandle, "INVALID_HANDLE", codes.InvalidArgument},
	{swarm.ErrStaleHandle, "STALE_HANDLE", codes.Aborted},
	{swarm.ErrNotFound, "NOT_FOUND", codes.NotFound},
	{swarm.ErrExists, "EXISTS", codes.AlreadyExists},
	{swarm.ErrSurvivors, "SURVIVORS", codes.FailedPrecondition},
	{swarm.ErrUnsupported, "UNSUPPORTED", codes.Unimplemented},
	{swarm.ErrPermission, "PERMISSION", codes.PermissionDenied},
	{swarm.ErrTooLate, "TOO_LATE", codes.FailedPrecondition},
	{swarm.ErrUnavailable, "UNAVAILABLE", codes.Unavailable},
	{context.Canceled, "CANCELED", codes.Canceled},
	{context.DeadlineExceeded, "DEADLINE", codes.DeadlineExceeded},
}

// remoteError is an error of the other side: its text and its sentinels.
type remoteError struct {
	text string
	is   []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.is }

// Error converts an error that is part of a result.
func Error(err error) *pb.Error {
	if err == nil {
		return nil
	}
	e := &pb.Error{Message: text(err.Error())}
	for _, row := range table {
		if errors.Is(err, row.err) {
			e.Reasons = append(e.Reasons, row.reason)
		}
	}
	return e
}

// FromError converts back.
func FromError(e *pb.Error) error {
	if e == nil {
		return nil
	}
	r := &remoteError{text: shorten(e.GetMessage(), maxMessage)}
	for _, row := range table {
		if slices.Contains(e.GetReasons(), row.reason) {
			r.is = append(r.is, row.err)
		}
	}
	switch {
	case r.text != "":
	case len(r.is) > 0:
		r.text = r.is[0].Error()
	default:
		r.text = "the plugin failed without saying why"
	}
	return r
}

// Status converts the error of a call into one that gRPC sends.
func Status(err error) error {
	if err == nil {
		return nil
	}
	code := codes.Unknown
	for _, row := range table {
		if errors.Is(err, row.err) {
			code = row.code
			break
		}
	}
	detail := Error(err)
	s := status.New(code, detail.GetMessage())
	if with, derr := s.WithDetails(detail); derr == nil {
		s = with
	}
	return s.Err()
}

// deadlineSkew is how much earlier the other side may see the end of a deadline: it has a
// timer of its own, and resets the stream.
const deadlineSkew = 50 * time.Millisecond

// contextErr returns the context's error if it has ended or is about to.
func contextErr(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil && time.Until(deadline) < deadlineSkew {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// FromStatus converts the error that gRPC returned for a call with ctx.
func FromStatus(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	for _, d := range s.Details() {
		if e, ok := d.(*pb.Error); ok {
			return FromError(e)
		}
	}
	if err := contextErr(ctx); err != nil {
		return err
	}
	switch s.Code() {
	case codes.Unavailable, codes.Canceled:
		// Canceled without the end of ctx: the connection was closed on this side.
		// gRPC's text on how it broke does not help users.
		return ErrGone
	case codes.ResourceExhausted:
		// gRPC's text only counts bytes. Either side may return it.
		return errTooLarge
	case codes.Unimplemented:
		// gRPC's text names a method that users do not know.
		return swarm.ErrUnsupported
	}
	for _, row := range table {
		if row.code == s.Code() {
			return &remoteError{text: shorten(s.Message(), maxMessage), is: []error{row.err}}
		}
	}
	return errors.New(shorten(s.Message(), maxMessage))
}
