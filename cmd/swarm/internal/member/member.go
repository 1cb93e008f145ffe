package member

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/tool"
)

const envTeam = "SWARM_TEAM"

// Flags are those of every verb that the members of a team use.
type Flags struct {
	team string // empty: not given
	JSON bool
	// noWake is the flag of AddWaking.
	noWake bool
}

func (f *Flags) AddTo(cmd *cobra.Command, a *app.App) {
	team := command.Parsed(&f.team, "TEAM", func(s string) (string, error) {
		if s == "" {
			return "", errors.New("expected the name of a team")
		}
		return s, nil
	})
	cmd.Flags().Var(team, "team", "the team (default: the caller's own, else $SWARM_TEAM)")
	cmd.Flags().BoolVar(&f.JSON, "json", false, "print the answer as JSON")
	command.CompleteFlag(cmd, "team", app.Offer(a.TeamNames))
}

// AddWaking adds the flag of verbs that make something for other members.
func (f *Flags) AddWaking(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.noWake, "no-wake", false, "wake no agent; the receiver finds it when it looks")
}

// Of returns the team that a call is about.
func (f *Flags) Of(ctx context.Context, a *app.App) (string, error) {
	if f.team != "" {
		return f.team, nil
	}
	var team string
	err := a.With(ctx, config.Default(), func(h *host.Host) (err error) {
		team, err = agent.CallerTeam(ctx, h)
		return err
	})
	if err != nil || team != "" {
		return team, err
	}
	if team = a.Getenv(envTeam); team != "" {
		return team, nil
	}
	return "", &output.UsageError{
		Text: "which team? the caller is in none",
		Hint: "use --team TEAM, or set SWARM_TEAM",
	}
}

// AsMember calls f for the team that the flags name.
func AsMember(ctx context.Context, a *app.App, f *Flags, call func(env tool.Env, team string) error) error {
	team, err := f.Of(ctx, a)
	if err != nil {
		return err
	}
	env := a.ToolEnv(a.UserConfig())
	if f.noWake {
		open := env.Open
		env.Open = func(ctx context.Context) (*host.Host, error) {
			h, err := open(ctx)
			if err == nil {
				h.Quiet()
			}
			return h, err
		}
	}
	return call(env, team)
}

// Answer prints the result of a call of a tool whose error is err: out with --json, else
// text, if it did not fail.
func Answer(a *app.App, asJSON bool, out any, warnings []string, err error, text func()) error {
	a.WarnAll(warnings)
	if wrong, ok := errors.AsType[*tool.InputError](err); ok {
		err = &output.CodeError{Code: output.ExitUsage, Err: wrong}
	}
	if asJSON {
		return errors.Join(a.PrintJSON(out), err)
	}
	if err == nil {
		text()
	}
	return err
}

// Afterwards does the work of a call after its answer, which may end the caller itself. It
// does so even if the answer could not be written, and returns its error joined with err.
func Afterwards(ctx context.Context, after func(context.Context) error, err error) error {
	if after == nil {
		return err
	}
	return errors.Join(err, after(context.WithoutCancel(ctx)))
}

// Names returns a function that turns the id of a member into the name for people. A member
// whose name can't be found keeps its id.
func Names(ctx context.Context, env tool.Env, team string) func(id string) string {
	names := map[string]string{}
	out, _ := tool.GetAgentStatus.Do(ctx, env, tool.GetAgentStatusInput{TeamName: team, IncludeTerminated: true})
	for _, agent := range out.Agents {
		names[agent.AgentID] = agent.Name
	}
	return func(id string) string { return cmp.Or(names[id], id) }
}

// Completions are read from the registry; no plugin is started, and what
// can't be read is not offered.

// CompleteAgent offers the names of a team's agents to a verb that takes one; the
// words come first.
func CompleteAgent(a *app.App, f *Flags, words ...string) cobra.CompletionFunc {
	return app.OfferOne(func(ctx context.Context) ([]string, error) {
		team, err := f.Of(ctx, a)
		if err != nil {
			return nil, err
		}
		return append(slices.Clone(words), a.AgentNames(ctx, team)...), nil
	})
}

// CompleteTask offers a team's tasks of one of these statuses, with their titles, to
// a verb that takes one.
func CompleteTask(a *app.App, f *Flags, statuses ...string) cobra.CompletionFunc {
	return app.OfferOne(func(ctx context.Context) (ids []string, err error) {
		team, err := f.Of(ctx, a)
		if err != nil {
			return nil, err
		}
		out, _ := tool.TaskList.Do(ctx, a.ToolEnv(config.Default()), tool.TaskListInput{TeamName: team})
		for _, t := range out.Tasks {
			if slices.Contains(statuses, t.Status) {
				ids = append(ids, cobra.CompletionWithDesc(t.ID, output.Visible(t.Title)))
			}
		}
		return ids, nil
	})
}
