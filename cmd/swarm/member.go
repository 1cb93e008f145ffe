package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/tool"
)

// envTeam is the team of an agent, in its environment.
const envTeam = "SWARM_TEAM"

// teamFlag is the name of a team; empty: not given.
type teamFlag string

func (f *teamFlag) Set(s string) error {
	if s == "" {
		return errors.New("expected the name of a team")
	}
	*f = teamFlag(s)
	return nil
}
func (f *teamFlag) Type() string   { return "TEAM" }
func (f *teamFlag) String() string { return string(*f) }

// memberFlags are those of every verb that the members of a team use.
type memberFlags struct {
	team teamFlag
	json bool
	// noWake is that of addWaking.
	noWake bool
}

func (f *memberFlags) addTo(cmd *cobra.Command, a *app) {
	cmd.Flags().Var(&f.team, "team", "the team (default: the caller's own, else $SWARM_TEAM)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the answer as JSON")
	completeFlag(cmd, "team", a.completeTeams)
}

// addWaking adds the flag of verbs that make something for other members.
func (f *memberFlags) addWaking(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.noWake, "no-wake", false, "wake no agent; the receiver finds it when it looks")
}

// of returns the team that a call is about.
func (f *memberFlags) of(ctx context.Context, a *app) (string, error) {
	if f.team != "" {
		return string(f.team), nil
	}
	h, err := a.setup().Open(ctx, config.Default())
	if err != nil {
		return "", err
	}
	team, err := agent.CallerTeam(ctx, h)
	if err = errors.Join(err, h.Leave()); err != nil || team != "" {
		return team, err
	}
	if team = a.getenv(envTeam); team != "" {
		return team, nil
	}
	return "", &usageError{
		text: "which team? the caller is in none",
		hint: "use --team TEAM, or set SWARM_TEAM",
	}
}

// toolEnv is what tools work with here, on hosts that have the settings of cfg.
func (a *app) toolEnv(cfg config.Config) tool.Env {
	return tool.Env{
		Open:         func(ctx context.Context) (*host.Host, error) { return a.setup().Open(ctx, cfg) },
		AgentCommand: cfg.Team.AgentCommand,
	}
}

// asMember calls f for the team that the flags name.
func (a *app) asMember(ctx context.Context, f *memberFlags, call func(env tool.Env, team string) error) error {
	team, err := f.of(ctx, a)
	if err != nil {
		return err
	}
	env := a.toolEnv(a.userConfig())
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

// answer tells what came of a call of a tool, whose error is err: out as it is with
// --json, else text, if it did not fail.
func (a *app) answer(asJSON bool, out any, warnings []string, err error, text func()) error {
	for _, w := range warnings {
		a.warn(w, "")
	}
	if wrong, ok := errors.AsType[*tool.InputError](err); ok {
		err = &codeError{code: exitUsage, err: wrong}
	}
	if asJSON {
		return errors.Join(a.printJSON(out), err)
	}
	if err == nil {
		text()
	}
	return err
}

// afterwards does what a call has left to do once it is answered, which may end the
// caller itself. It does so whether or not anybody could read the answer, and returns
// its error beside err.
func afterwards(ctx context.Context, after func(context.Context) error, err error) error {
	if after == nil {
		return err
	}
	return errors.Join(err, after(context.WithoutCancel(ctx)))
}

// memberNames returns what a team calls its members, for people, by their ids. What
// it can't find out is called by its id.
func memberNames(ctx context.Context, env tool.Env, team string) func(id string) string {
	names := map[string]string{}
	out, _ := tool.GetAgentStatus(ctx, env, tool.GetAgentStatusInput{TeamName: team, IncludeTerminated: true})
	for _, agent := range out.Agents {
		names[agent.AgentID] = agent.Name
	}
	return func(id string) string { return orText(names[id], id) }
}
