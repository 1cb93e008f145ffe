package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newTeam(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "team",
		Short: "Make, show and delete teams of agents",
		Long: `Make, show and delete teams. A team is a leader and its agents, with tasks, messages
and, if it has one, a server that its agents share. The leader is whoever makes it: a
person, or those who live in the worker that "team create" is called in.`,
		Example: `  swarm team create web --description "the shop's front end"
  swarm team show web
  swarm team ls
  swarm team delete web --force`,
	}, newTeamCreate(a), newTeamShow(a), newTeamLs(a), newTeamDelete(a))
}

func newTeamCreate(a *app) *cobra.Command {
	var (
		in             tool.SpawnTeamInput
		server, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "create NAME [flags] [--server -- COMMAND [ARG...]]",
		Short: "Make a team, whose leader the caller is",
		Long: `Make a team, whose leader the caller is. Its name has letters, digits, hyphens and
underscores, at most 32.

With --server COMMAND is started as a worker that the team's agents share. {port} in
it is replaced by a free port of 127.0.0.1, which agents find in $SWARM_TEAM_SERVER.
It returns once the server listens; one that does not within 15 seconds is an error,
and nothing is left behind. It is stopped when its last agent has gone, and started
again with the next one.`,
		Example: `  swarm team create web
  swarm team create web --server -- opencode serve --port {port}`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 {
				dash = len(args)
			}
			if err := arguments(1, 1, "name of the team")(cmd, args[:dash]); err != nil {
				return err
			}
			in.TeamName, in.Server = args[0], args[dash:]
			switch {
			case server && len(in.Server) == 0:
				return usagef("--server needs a command (use -- command...)")
			case !server && len(in.Server) > 0:
				return usagef("a command needs --server")
			}
			return a.teamCreate(cmd.Context(), in, asJSON)
		},
	}
	cmd.Flags().StringVar(&in.Description, "description", "", "`TEXT` that says what it is for")
	cmd.Flags().BoolVar(&server, "server", false, "start a server for its agents")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

func (a *app) teamCreate(ctx context.Context, in tool.SpawnTeamInput, asJSON bool) error {
	finishWriting()
	cfg := a.userConfig()
	if len(in.Server) > 0 {
		loaded, err := a.loadProjectFor(backendProcess)
		if err != nil {
			return err
		}
		cfg = loaded.Config
	}
	env := a.toolEnv(cfg)
	var err error
	if env.Dir, err = workingDir(""); err != nil && len(in.Server) > 0 {
		return err
	}
	out, err := tool.SpawnTeam(ctx, env, in)
	return a.answer(asJSON, out, out.Warnings, err, func() { a.printf("created team %s\n", out.TeamName) })
}
