package app

import (
	"context"
	"errors"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/nearest"
)

// Fail prints one error line for err, or one for each of several.
func (a *App) Fail(err error) {
	if problems, ok := errors.AsType[config.Problems](err); ok {
		for _, p := range problems {
			a.Error(p.Error())
		}
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && isJoin(err, joined.Unwrap()) {
		for _, err := range joined.Unwrap() {
			a.Fail(err)
		}
		return
	}
	text := setup.Message(err)
	if words, ok := team.CommandText(err); ok {
		text = words
	}
	a.Error(text)
	if hint, ok := errors.AsType[*output.HintError](err); ok {
		a.Hint(hint.Hint)
	}
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		a.Hint(hinted.Hint())
	}
	a.Hint(output.DidYouMean(a.suggestName(err), ""))
}

// isJoin reports whether an error comes from [errors.Join], which has no text of its own,
// and does not just wrap several errors.
func isJoin(err error, parts []error) bool {
	joined := errors.Join(parts...) // nil without parts, as of an error that wraps nothing
	return joined != nil && err.Error() == joined.Error()
}

// suggestName returns the existing name that is most like the unknown name in err, or "".
// It starts no plugin.
func (a *App) suggestName(err error) string {
	if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok {
		return nearest.Name(missing.Name, missing.Known)
	}
	if missing, ok := errors.AsType[*display.NoProfileError](err); ok {
		return nearest.Name(missing.Name, append(missing.Known, profile.None))
	}
	dir, dirErr := a.StateDir()
	if dirErr != nil {
		return ""
	}
	ctx := context.Background()
	if missing, ok := errors.AsType[*store.NotFoundError](err); ok {
		if workers, _ := store.AgentWorkers(ctx, dir, missing.Name); len(workers) > 0 {
			return strings.Join(workers, "' or '")
		}
		names, _ := store.Names(ctx, dir)
		return nearest.Name(missing.Name, names)
	}
	if missing, ok := errors.AsType[*team.NoTeamError](err); ok {
		teams, _ := a.TeamNames(ctx)
		return nearest.Name(missing.Team, teams)
	}
	if missing, ok := errors.AsType[*team.NoAgentError](err); ok {
		teams := []string{missing.InTeam}
		if missing.InTeam == "" {
			teams, _ = a.TeamNames(ctx)
		}
		var names []string
		for _, name := range teams {
			names = append(names, a.AgentNames(ctx, name)...)
		}
		return nearest.Name(missing.Agent, names)
	}
	return ""
}
