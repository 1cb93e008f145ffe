package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/swarm"
)

// errNoAnswer means that an engine was too slow, such as on a machine that is busy.
var errNoAnswer = fmt.Errorf("the engine did not answer within %s", engineLimit)

// explain turns an error of the engine into one of the contract, in words for the user.
func (e *engine) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	_, network := errors.AsType[*net.OpError](err)
	text := firstLine(err.Error())
	cutOff := strings.HasSuffix(err.Error(), "EOF") || strings.Contains(err.Error(), "connection reset") || strings.Contains(err.Error(), "broken pipe")
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s: %w", swarm.ErrUnavailable, doing, errNoAnswer)
	case errors.Is(err, fs.ErrPermission) || strings.Contains(text, "permission denied while trying to connect"):
		return fmt.Errorf("%w: no right to use %s: join its group (mostly 'docker'), or use a rootless engine", swarm.ErrPermission, e.socket)
	case network, client.IsErrConnectionFailed(err), cutOff:
		return fmt.Errorf("%w: no container engine answers at %s: start it, or set 'host'", swarm.ErrUnavailable, e.socket)
	case isGone(err):
		return fmt.Errorf("%w: %s: %s", swarm.ErrNotFound, doing, text)
	case errdefs.IsPermissionDenied(err), errdefs.IsUnauthorized(err):
		return fmt.Errorf("%w: %s: %s", swarm.ErrPermission, doing, text)
	case errdefs.IsInvalidArgument(err), errdefs.IsConflict(err), errdefs.IsFailedPrecondition(err), errdefs.IsNotImplemented(err):
		return fmt.Errorf("%w: %s: %s", swarm.ErrInvalidSpec, doing, text)
	default:
		return fmt.Errorf("%w: %s: %s", swarm.ErrUnavailable, doing, text)
	}
}

// firstLine makes a text one line of a sensible length.
func firstLine(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "Error response from daemon: ")
	s, _, _ = strings.Cut(s, "\n")
	s = strings.Join(strings.Fields(s), " ")
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// isGone reports that the engine does not have a container. Podman says so in words only if
// the container goes during the question.
func isGone(err error) bool {
	return errdefs.IsNotFound(err) || err != nil && strings.Contains(err.Error(), "no such container")
}

// isConnection reports that no engine answered at all, or none in time.
func isConnection(err error) bool {
	return errors.Is(err, errNoAnswer) ||
		errors.Is(err, swarm.ErrUnavailable) && strings.Contains(err.Error(), "no container engine answers") ||
		errors.Is(err, swarm.ErrPermission)
}

// plain returns the text of an error of the engine, without its way through the layers
// below.
func plain(err error) string {
	text := firstLine(err.Error())
	for _, prefix := range []string{"OCI runtime create failed: ", "runc create failed: ", "unable to start container process: "} {
		if _, rest, ok := strings.Cut(text, prefix); ok {
			text = rest
		}
	}
	return strings.TrimSuffix(text, ": unknown")
}
