package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/humane"
)

func newShow(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a team: its agents, its server and its tasks",
		Long: `Show a team: its leader, the status of its agents and its server, and the progress of
its tasks. The status is checked now; nothing is changed. Any member may ask.`,
		Example: `  swarm team show web
  swarm team show web --json | jq .tasks`,
		Args:              command.Arguments(1, 1, "name of a team"),
		ValidArgsFunction: app.OfferOne(a.TeamNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runShow(cmd.Context(), a, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the team as JSON")
	return cmd
}

// teamShowJSON is a team with the answer of get-agent-status.
type teamShowJSON struct {
	teamJSON
	Agents  []agent.Agent `json:"agents"`
	Server  *agent.Server `json:"server"`
	Summary agent.Summary `json:"summary"`
	// Tasks are the numbers of tasks by status.
	Tasks map[string]int `json:"tasks"`
}

func runShow(ctx context.Context, a *app.App, name string, asJSON bool) error {
	env := a.ToolEnv(a.UserConfig())
	status, err := tool.GetAgentStatus.Do(ctx, env, tool.GetAgentStatusInput{TeamName: name, IncludeServer: true})
	if err != nil {
		return err
	}
	list, err := tool.TaskList.Do(ctx, env, tool.TaskListInput{TeamName: name})
	if err != nil {
		return err
	}
	about, err := aboutTeam(ctx, env, name)
	if err != nil {
		return err
	}
	a.WarnAll(status.Warnings)
	show := teamShowJSON{
		teamJSON: teamJSONOf(about), Agents: status.Agents, Server: status.Server, Summary: status.Summary,
		Tasks: map[string]int{},
	}
	for _, s := range member.TaskStatuses {
		show.Tasks[s] = 0
	}
	for _, t := range list.Tasks {
		show.Tasks[t.Status]++
	}
	if asJSON {
		return a.PrintJSON(show)
	}
	now := time.Now()
	a.Printf("%s\n", teamLine(about, now))
	if show.Server != nil {
		a.Printf("%s\n", member.ServerLine(*show.Server, now))
	}
	a.Printf("%s\n%s\n", tasksLine(show.Tasks), member.SummaryLine(show.Summary))
	if len(show.Agents) > 0 {
		a.Printf("\n")
		member.PrintAgents(a, show.Agents)
	}
	return nil
}

func aboutTeam(ctx context.Context, env tool.Env, name string) (agent.Team, error) {
	h, err := env.Open(ctx)
	if err != nil {
		return agent.Team{}, err
	}
	teams, _, err := agent.Teams(ctx, h)
	err = errors.Join(err, h.Close())
	i := slices.IndexFunc(teams, func(t agent.Team) bool { return t.Name == name })
	if err == nil && i < 0 {
		err = &team.NoTeamError{Team: name} // it was deleted just now
	}
	if err != nil {
		return agent.Team{}, err
	}
	return teams[i], nil
}

// teamLine is "web: the shop's front end (led by boss, created 5m ago)".
func teamLine(t agent.Team, now time.Time) string {
	line := strings.TrimSuffix(t.Name+": "+t.Description, ": ")
	return output.Visible(fmt.Sprintf("%s (led by %s, created %s ago)", line, cmp.Or(t.Leader, "a person"), humane.Age(now.Sub(t.Created))))
}

// tasksLine is "3 tasks: 1 pending, 2 completed".
func tasksLine(count map[string]int) string {
	total := 0
	var parts []string
	for _, s := range member.TaskStatuses {
		if n := count[s]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(s, "_", " ")))
		}
	}
	return member.CountLine(total, "task", parts)
}

func newLs(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List teams",
		Long:    `List all teams, with the worker that leads each ("-": a person). Nothing is changed.`,
		Example: `  swarm team ls
  swarm team ls --json | jq -r '.[] | select(.agents == []) | .teamName'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runLs(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the teams as JSON")
	return cmd
}

type teamJSON struct {
	TeamName    string `json:"teamName"`
	Description string `json:"description"`
	// LeaderWorker is the name of the worker that leads the team; null for a person.
	LeaderWorker *string  `json:"leaderWorker"`
	Agents       []string `json:"agents"`
	HasServer    bool     `json:"hasServer"`

	CreatedAt humane.Timestamp `json:"createdAt"`
}

func teamJSONOf(t agent.Team) teamJSON {
	return teamJSON{
		TeamName: t.Name, Description: t.Description, LeaderWorker: output.OrNull(t.Leader),
		Agents: append([]string{}, t.Agents...), HasServer: t.Server, CreatedAt: humane.Timestamp{Time: t.Created},
	}
}

func runLs(ctx context.Context, a *app.App, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		teams, warnings, err := agent.Teams(ctx, h)
		if err != nil {
			return err
		}
		a.WarnAll(warnings)
		if asJSON {
			return a.PrintJSON(output.List(teams, teamJSONOf))
		}
		a.PrintTable([]string{"NAME", "LEADER", "AGENTS", "CREATED", "DESCRIPTION"}, output.List(teams, func(t agent.Team) []string {
			return []string{t.Name, output.OrDash(t.Leader), strconv.Itoa(len(t.Agents)), humane.Age(time.Since(t.Created)) + " ago", output.OrDash(t.Description)}
		}))
		return nil
	})
}
