package team

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "team",
		Short: "Create, show and delete teams of agents",
		Long: `Create, show and delete teams. A team is a leader and its agents, with tasks, messages
and, if it has one, a server that its agents share. Its creator is the leader: a
person, or the processes of the worker that calls "team create".`,
		Example: `  swarm team create web --description "the shop's front end"
  swarm team show web
  swarm team ls
  swarm team delete web --force`,
	}, newCreate(a), newShow(a), newLs(a), newDelete(a))
}

func newCreate(a *app.App) *cobra.Command {
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
			if err := command.Arguments(1, 1, "name of the team")(cmd, args[:dash]); err != nil {
				return err
			}
			in.TeamName, in.Server = args[0], args[dash:]
			switch {
			case server && len(in.Server) == 0:
				return output.Usagef("--server needs a command (use -- command...)")
			case !server && len(in.Server) > 0:
				return output.Usagef("a command needs --server")
			}
			return runCreate(cmd.Context(), a, in, asJSON)
		},
	}
	cmd.Flags().StringVar(&in.Description, "description", "", "`TEXT` that says what the team is for")
	cmd.Flags().BoolVar(&server, "server", false, "start a server for its agents")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

func runCreate(ctx context.Context, a *app.App, in tool.SpawnTeamInput, asJSON bool) error {
	output.FinishWriting()
	cfg := a.UserConfig()
	if len(in.Server) > 0 {
		loaded, err := a.LoadProjectFor(app.BackendProcess)
		if err != nil {
			return err
		}
		cfg = loaded.Config
	}
	env := a.ToolEnv(cfg)
	var err error
	if env.Dir, err = app.WorkingDir(""); err != nil && len(in.Server) > 0 {
		return err
	}
	out, err := tool.SpawnTeam.Do(ctx, env, in)
	return member.Answer(a, asJSON, out, out.Warnings, err, func() { a.Printf("created team %s\n", out.TeamName) })
}
