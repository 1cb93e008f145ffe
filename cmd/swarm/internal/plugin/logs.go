package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginlogs"
	"github.com/swarmhost/swarm/shared/pluginlog"
)

type pluginLogsOptions struct {
	lines        *int
	follow, json bool
}

func newLogs(a *app.App) *cobra.Command {
	var o pluginLogsOptions
	cmd := &cobra.Command{
		Use:   "logs NAME [flags]",
		Short: "Show what the last runs of a plugin wrote to their standard error",
		Long: `Show what a plugin wrote to its standard error: its log, and what it said before it
ended. Each run begins with a line that has the time, the process and the command of
swarm that started the plugin, and ends with a line that says how it ended. A plugin
that was killed together with swarm has no such line.

The log of a plugin is in the state directory and has 1 MiB at most; the oldest part
goes. It has all levels, whatever SWARM_LOG is.

With --json each line is an object with pid, began, command, time, and text or end.`,
		Example: `  swarm plugin logs queue
  swarm plugin logs queue --lines 20
  swarm plugin logs queue --follow
  swarm plugin logs queue --json | jq -r 'select(.end) | .end'`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(1, 1, "a plugin"),
		ValidArgsFunction:     completePlugins(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithHost(cmd.Context(), func(h *host.Host) error { return runLogs(cmd.Context(), a, h, args[0], o) })
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "continue with what is written next, until you interrupt it")
	f.VarP(command.Count(&o.lines, 0), "lines", "n", "begin with the last `N` lines")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line")
	return cmd
}

func runLogs(ctx context.Context, a *app.App, h *host.Host, name string, o pluginLogsOptions) error {
	var last pluginlogs.Run
	said := false
	err := h.Plugins().Logs(ctx, name, pluginlogs.Options{Lines: o.lines, Follow: o.follow}, func(e pluginlogs.Entry) error {
		said = true
		if o.json {
			line, err := json.Marshal(e)
			a.Printf("%s\n", string(line))
			return cmp.Or(err, a.Out.Err)
		}
		if e.Run != last {
			last = e.Run
			a.Printf("--- %s  pid %d  %s\n", e.Began.Local().Format(time.DateTime), e.PID, cmp.Or(e.Command, "swarm"))
		}
		for line := range strings.SplitSeq(e.Text, "\n") {
			if e.Text != "" {
				a.Printf("%s\n", pluginlog.Text(line))
			}
		}
		if e.End != "" {
			a.Printf("--- %s  pid %d  %s\n", e.Time.Local().Format(time.DateTime), e.PID, e.End)
		}
		return a.Out.Err
	})
	if err == nil && !said {
		a.Hint(fmt.Sprintf("plugin '%s' has written nothing", name))
	}
	return err
}
