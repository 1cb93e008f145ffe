package nomad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// explain turns an error of the API into one of the contract, in words for the user. Most
// errors of Nomad differ only in their text.
func (b *Backend) explain(ctx context.Context, doing string, err error) error {
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
	case has("no path to node", "unknown node", "node is not ready"):
		return fmt.Errorf("%w: %s: %w", swarm.ErrUnavailable, doing, errAway)
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

// errAway means that Nomad's servers have no connection with the node of a worker.
var errAway = errors.New("its node is away from Nomad")

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

func failure(a *api.AllocationListStub) string {
	t := a.TaskStates[taskName] // may be nil
	for _, kind := range []string{api.TaskDriverFailure, api.TaskSetupFailure, api.TaskFailedValidation, api.TaskArtifactDownloadFailed} {
		if e := eventOf(t, kind); e != nil {
			return plain(cmp.Or(e.DisplayMessage, e.DriverError, e.SetupError, e.Message, kind))
		}
	}
	if e := lastEvent(t); e != nil {
		return plain(cmp.Or(e.DisplayMessage, e.Type))
	}
	return cmp.Or(firstLine(a.ClientDescription), "it did not start")
}

var (
	// Where Nomad's parts talk to each other is useless to a person.
	between = regexp.MustCompile(`rpc error: code = \w+ desc = `)
	// The command with all its arguments, which may hold secrets.
	commandLine = regexp.MustCompile(`failed to start command path="[^"]*" --- args=\[.*\]: `)
)

func plain(text string) string {
	text = between.ReplaceAllString(strings.ReplaceAll(text, "\n", " "), "")
	return firstLine(commandLine.ReplaceAllString(text, ""))
}

func unplaceable(m *api.AllocationMetric) string {
	if m.NodesEvaluated == 0 {
		places := make([]string, 0, len(m.NodesAvailable))
		for _, dc := range slices.Sorted(maps.Keys(m.NodesAvailable)) {
			places = append(places, fmt.Sprintf("%s has %d", dc, m.NodesAvailable[dc]))
		}
		where := "its datacenters and its node pool have no node that is ready"
		if len(places) > 0 {
			where = "no node is eligible (of those that are ready " + strings.Join(places, ", ") + ")"
		}
		return where + ": check datacenters and node_pool, and `nomad node status`"
	}
	var why []string
	count := func(reasons map[string]int, format string) {
		for _, reason := range slices.Sorted(maps.Keys(reasons)) {
			why = append(why, fmt.Sprintf(format, reasons[reason], reason))
		}
	}
	count(m.ConstraintFiltered, "%d do not meet the constraint '%s'")
	count(m.ClassFiltered, "%d are of the class '%s'")
	count(m.DimensionExhausted, "%d have no space: %s")
	for _, q := range m.QuotaExhausted {
		why = append(why, "the quota is used up: "+q)
	}
	if len(why) == 0 {
		why = append(why, "Nomad gives no reason")
	}
	return fmt.Sprintf("of %d nodes %s: change driver, constraints, cpu or memory, or make space",
		m.NodesEvaluated, strings.Join(why, ", "))
}
