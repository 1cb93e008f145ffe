package nomad

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// tell turns an error of the API into one of the contract, in words for the user. Most
// errors of Nomad differ only in their text.
func (b *Backend) tell(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	var answer api.UnexpectedResponseError
	if !errors.As(err, &answer) || !answer.HasStatusCode() {
		return fmt.Errorf("%w: can't reach Nomad at %s (%s): is it running, and is the address right?",
			swarm.ErrUnavailable, b.client.Address(), rootOf(err))
	}
	text := firstLine(answer.Body())
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(strings.ToLower(text), part) {
				return true
			}
		}
		return false
	}
	switch code := answer.StatusCode(); {
	case has("token not found", "token is invalid", "token expired", "secretid"):
		return fmt.Errorf("%w: Nomad does not know this token (%s): see token and token_file in the settings, or NOMAD_TOKEN",
			swarm.ErrPermission, text)
	case code == http.StatusForbidden && b.unknownToken(ctx):
		return fmt.Errorf("%w: Nomad does not know this token: see token and token_file in the settings, or NOMAD_TOKEN", swarm.ErrPermission)
	case code == http.StatusForbidden || has("permission denied"):
		return fmt.Errorf("%w: %s: Nomad's ACL does not allow it in the namespace '%s': give a token whose policy does",
			swarm.ErrPermission, doing, b.at.Namespace)
	case has("nonexistent namespace", "namespace not found"):
		return fmt.Errorf("%w: Nomad has no namespace '%s': create it, or change the setting 'namespace'",
			swarm.ErrInvalidConfig, b.at.Namespace)
	case has("no path to region"):
		return fmt.Errorf("%w: Nomad has no region '%s': change the setting 'region'", swarm.ErrInvalidConfig, b.at.Region)
	case has("nonexistent node pool", "node pool"):
		return fmt.Errorf("%w: %s", swarm.ErrInvalidSpec, text)
	case code == http.StatusNotFound:
		return fmt.Errorf("%w: %s: %s", swarm.ErrNotFound, doing, text)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable,
		has("no cluster leader", "leader", "connection", "eof", "timeout", "rpc error"):
		return fmt.Errorf("%w: %s: Nomad says: %s", swarm.ErrUnavailable, doing, text)
	case code < http.StatusInternalServerError:
		return fmt.Errorf("%w: %s: Nomad says: %s", swarm.ErrInvalidSpec, doing, text)
	}
	return fmt.Errorf("%s: Nomad says: %s", doing, text)
}

// unknownToken reports whether Nomad does not know the token: its error for that equals the
// one for a token without rights.
func (b *Backend) unknownToken(ctx context.Context) bool {
	if !b.hasToken {
		return false
	}
	_, _, err := b.client.ACLTokens().Self(b.query(ctx, b.at))
	return err != nil && ctx.Err() == nil
}

// rootOf returns the part of an error of the network that matters.
func rootOf(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return firstLine(err.Error())
}

// firstLine makes a text one line of a sensible length. Nomad reports several errors as a
// list below their number.
func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if first, rest, ok := strings.Cut(s, "\n"); ok && strings.HasSuffix(first, "occurred:") {
		s = strings.TrimSpace(rest)
	}
	s = strings.Join(strings.Fields(strings.TrimPrefix(s, "* ")), " ")
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.TrimSpace(s)
}
