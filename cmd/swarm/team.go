package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newTeam(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "team",
		Short: "Create, show and delete teams of agents",
		Long: `Create, show and delete teams. A team is a leader and its agents, with tasks, messages
and, if it has one, a server that its agents share. Its creator is the leader: a
person, or the processes of the worker that calls "team create".`,
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
		Short: "Create a team led by the caller",
		Long: `Create a team led by the caller. Its name has at most 32 letters, digits, hyphens and
underscores.

With --server, COMMAND is started as a worker that the team's agents share. {port} in
it is replaced by a free port of 127.0.0.1, which agents find in $SWARM_TEAM_SERVER.
The call returns once the server listens; if it does not listen within 15 seconds, the
call fails and nothing is left behind. The server is stopped when the last agent has
gone, and started again with the next one.`,
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
	cmd.Flags().StringVar(&in.Description, "description", "", "`TEXT` that says what the team is for")
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
