package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newAgentLs(a *app) *cobra.Command {
	f := &memberFlags{}
	var in tool.GetAgentStatusInput
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List the agents of a team",
		Long: `List the agents of a team, the oldest first. Their status is checked now; nothing is
changed. With --json it prints the same as "swarm agent status".`,
		Example: `  swarm agent ls --team web
  swarm agent ls --team web --json | jq -r '.agents[].name'`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.asMember(cmd.Context(), f, func(env tool.Env, team string) error {
				in.TeamName = team
				out, err := tool.GetAgentStatus(cmd.Context(), env, in)
				return a.answer(f.json, out, out.Warnings, err, func() { a.printAgents(out.Agents) })
			})
		},
	}
	f.addTo(cmd, a)
	cmd.Flags().BoolVar(&in.IncludeTerminated, "terminated", false, "list terminated agents too")
	return cmd
}

var agentLsHeader = []string{"NAME", "ID", "ROLE", "STATUS", "LAST SEEN", "WORKER", "MODEL"}

// printAgents prints a table, with a dot before each agent in its colour.
func (a *app) printAgents(agents []tool.AgentStatus) {
	rows := make([][]string, len(agents))
	for i, s := range agents {
		rows[i] = []string{s.Name, s.AgentID, s.Role, s.Status, heartbeatText(s), s.Worker, orDash(s.Model)}
	}
	header := agentLsHeader
	if slices.ContainsFunc(agents, func(s tool.AgentStatus) bool { return s.State != "" }) {
		header = append(slices.Clone(header), "STATE")
		for i, s := range agents {
			rows[i] = append(rows[i], orDash(s.State))
		}
	}
	for i, line := range tableLines(header, rows) {
		switch {
		case !a.colours():
		case i == 0:
			line = "  " + line
		default:
			line = string(a.dot(agents[i-1].Color)) + line
		}
		a.printf("%s\n", made(line))
	}
}

// colours reports whether stdout is a terminal that is to be coloured.
func (a *app) colours() bool {
	return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && a.outWidth() > 0
}

// dot is a dot in a colour as #RRGGBB, and a blank; nothing without colours.
func (a *app) dot(colour string) made {
	rgb, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 24)
	if err != nil || !a.colours() {
		return ""
	}
	return made(fmt.Sprintf("\x1b[38;2;%d;%d;%dm●\x1b[0m ", rgb>>16, rgb>>8&0xff, rgb&0xff))
}
