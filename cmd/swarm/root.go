package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/agent"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/config"
	"github.com/swarmhost/swarm/cmd/swarm/internal/dashboard"
	"github.com/swarmhost/swarm/cmd/swarm/internal/history"
	"github.com/swarmhost/swarm/cmd/swarm/internal/inbox"
	"github.com/swarmhost/swarm/cmd/swarm/internal/inside"
	"github.com/swarmhost/swarm/cmd/swarm/internal/integrate"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/plugin"
	"github.com/swarmhost/swarm/cmd/swarm/internal/profiles"
	"github.com/swarmhost/swarm/cmd/swarm/internal/ralph"
	"github.com/swarmhost/swarm/cmd/swarm/internal/rescue"
	"github.com/swarmhost/swarm/cmd/swarm/internal/sets"
	"github.com/swarmhost/swarm/cmd/swarm/internal/shutdown"
	"github.com/swarmhost/swarm/cmd/swarm/internal/system"
	"github.com/swarmhost/swarm/cmd/swarm/internal/talk"
	"github.com/swarmhost/swarm/cmd/swarm/internal/task"
	"github.com/swarmhost/swarm/cmd/swarm/internal/team"
	"github.com/swarmhost/swarm/cmd/swarm/internal/tool"
	"github.com/swarmhost/swarm/cmd/swarm/internal/topics"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/shared/safetext"
)

// The groups in which help lists the verbs, by their titles.
const (
	groupWorkers = "Workers:"
	groupTalk    = "Talk to workers:"
	groupHistory = "History:"
	groupInside  = "From inside a worker:"
	groupSets    = "Loops and sets of workers:"
	groupTeams   = "Teams of agents:"
	groupTools   = "Tools for agents:"
	groupSystem  = "Setup:"
	groupTopics  = "Topics:"
)

// verbs are the commands of swarm, in the order of their use. The order of the groups is that
// of their first verbs.
func verbs() []verb {
	return []verb{
		{"spawn", groupWorkers, workers.NewSpawn},
		{"ls", groupWorkers, workers.NewLs},
		{"status", groupWorkers, workers.NewStatus},
		{"show", groupWorkers, workers.NewShow},
		{"stats", groupWorkers, workers.NewStats},
		{"logs", groupWorkers, workers.NewLogs},
		{"top", groupWorkers, dashboard.NewTop},
		{"web", groupWorkers, dashboard.NewWeb},
		{"wait", groupWorkers, workers.NewWait},
		{"kill", groupWorkers, workers.NewKill},
		{"pause", groupWorkers, workers.NewPause},
		{"resume", groupWorkers, workers.NewResume},
		{"update", groupWorkers, workers.NewUpdate},
		{"respawn", groupWorkers, workers.NewRespawn},
		{"clean", groupWorkers, workers.NewClean},
		{"resurrect", groupWorkers, workers.NewResurrect},
		{"diff", groupWorkers, workers.NewDiff},
		{"rescue", groupWorkers, rescue.New},
		{"adopt", groupWorkers, workers.NewAdopt},
		{"send", groupTalk, talk.NewSend},
		{"questions", groupTalk, talk.NewQuestions},
		{"answer", groupTalk, talk.NewAnswer},
		{"keys", groupTalk, talk.NewKeys},
		{"peek", groupTalk, talk.NewPeek},
		{"explain", groupTalk, talk.NewExplain},
		{"attach", groupTalk, talk.NewAttach},
		{"resize", groupTalk, talk.NewResize},
		{"exec", groupTalk, talk.NewExec},
		{"cp", groupTalk, talk.NewCp},
		{"forward", groupTalk, talk.NewForward},
		{"interrupt", groupTalk, talk.NewInterrupt},
		{"eof", groupTalk, talk.NewEOF},
		{"signal", groupTalk, talk.NewSignal},
		{"events", groupHistory, history.NewEvents},
		{"watch", groupHistory, history.NewWatch},
		{"gc", groupHistory, history.NewGC},
		{"run-hook", groupHistory, history.NewRunHook},
		{"complete", groupInside, inside.NewComplete},
		{"ralph", groupSets, ralph.New},
		{"up", groupSets, sets.NewUp},
		{"down", groupSets, sets.NewDown},
		{"team", groupTeams, team.New},
		{"agent", groupTeams, agent.New},
		{"task", groupTeams, task.New},
		{"inbox", groupTeams, inbox.New},
		{"heartbeat", groupTeams, inside.NewHeartbeat},
		{"shutdown", groupTeams, shutdown.New},
		{"notifier", groupTeams, inside.NewNotifier},
		{"tasks", groupTools, tool.NewTasks},
		{"tool", groupTools, tool.New},
		{"mcp", groupTools, tool.NewMCP},
		{"skill", groupTools, withTree(integrate.NewSkill)},
		{"integrate", groupTools, withTree(integrate.NewIntegrate)},
		{"hook", groupTools, integrate.NewHook},
		{"config", groupSystem, config.New},
		{"plugin", groupSystem, plugin.New},
		{"profiles", groupSystem, profiles.New},
		{"doctor", groupSystem, system.NewDoctor},
		{"completion", groupSystem, system.NewCompletion},
		{"man", groupSystem, withTree(system.NewMan)},
		{"version", groupSystem, system.NewVersion},
		{"selection", groupTopics, topic(topics.Selection)},
		{"exit-codes", groupTopics, topic(topics.ExitCodes)},
		{"environment", groupTopics, topic(topics.Environment)},
		{"worktrees", groupTopics, topic(topics.Worktrees)},
		{"files", groupTopics, topic(topics.Files)},
	}
}

type verb struct {
	name, group string
	make        func(*app.App) *cobra.Command
}

func topic(t topics.Topic) func(*app.App) *cobra.Command {
	return func(*app.App) *cobra.Command { return t.Command() }
}

// withTree makes a verb that needs the tree of all commands.
func withTree(make func(*app.App, func() *cobra.Command) *cobra.Command) func(*app.App) *cobra.Command {
	return func(a *app.App) *cobra.Command {
		return make(a, func() *cobra.Command { return newRoot(a) })
	}
}

// newRoot returns the command for a call with args. The verb that they name is all
// that it needs: making all of them takes longer than many calls have to wait for
// anything else.
func newRoot(a *app.App, args ...string) *cobra.Command {
	root := bareRoot(a)
	all := verbs()
	if len(args) > 0 {
		if i := slices.IndexFunc(all, func(v verb) bool { return v.name == args[0] }); i >= 0 {
			all = all[i : i+1]
		}
	}
	for _, v := range all {
		cmd := v.make(a)
		cmd.GroupID = v.group
		cmd.DisableFlagsInUseLine = true
		root.AddCommand(cmd)
	}
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		newCompleter(a, args).addTo(root)
	}
	return root
}

func bareRoot(a *app.App) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "swarm",
		Short: "Keep workers running, and end them for good",
		Long: `swarm keeps workers running after the terminal is gone: coding agents, shells,
dev servers, any command, in tmux windows or as background processes, each in a
git worktree of its own if you like. It knows the real status of each worker, and
when it ends one, no process of it remains.`,
		Example: `  swarm spawn --name build -- make watch
  swarm spawn --name agent --tmux --worktree -- claude
  swarm ls
  swarm logs build --follow
  swarm kill agent --rm-worktree`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				a.Printf("%s\n", setup.ReadBuild())
				return nil
			}
			if len(args) == 0 && workers.PrintFirstSteps(cmd.Context(), a) {
				return nil
			}
			return command.UnknownVerb(cmd, args)
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	command.ColourFlag(root, &a.Colour)
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { a.Command = cmd.CommandPath() }
	root.CompletionOptions.DisableDefaultCmd = true
	// The completions for a shell may hold text that others wrote.
	root.SetOut(safetext.Writer(a.Out))
	root.SetErr(safetext.Writer(a.Err))
	root.SetFlagErrorFunc(command.FlagError)
	root.SetUsageTemplate(usageTemplate)
	for _, v := range verbs() {
		if !root.ContainsGroup(v.group) {
			root.AddGroup(&cobra.Group{ID: v.group, Title: v.group})
		}
	}
	root.SetHelpCommand(newHelp())
	root.SetHelpFunc(helpFor(a, root.HelpFunc()))
	return root
}

// newHelp is cobra's help command, but each word has to name a command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...|TOPIC]",
		Short:   "Show the help of a command or topic",
		GroupID: groupSystem,
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range at.Commands() {
				if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return command.UnknownVerb(at, rest)
			}
			return at.Help()
		},
	}
}

// helpFor shows the help of a command. A word that names no command below it, as in
// "swarm nosuch --help", becomes the error of the call.
func helpFor(a *app.App, show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
			a.HelpError = command.UnknownVerb(cmd, words)
			return
		}
		width := a.OutWidth()
		if width == 0 {
			show(cmd, args)
			return
		}
		var text strings.Builder
		out := cmd.OutOrStdout()
		cmd.SetOut(&text)
		show(cmd, args)
		cmd.SetOut(out)
		fmt.Fprint(out, output.Reflow(text.String(), width))
	}
}

// usageTemplate is cobra's, in the order in which one reads it.
const usageTemplate = `Usage:
  {{.UseLine}}{{if .HasAvailableSubCommands}} COMMAND{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}
{{- range $group := .Groups}}

{{.Title}}
{{- range $.Commands}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand .IsAdditionalHelpTopicCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}{{end}}
{{- if not .AllChildCommandsHaveGroup}}

Commands:
{{- range .Commands}}{{if and (eq .GroupID "") .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}{{end}}
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasAvailableSubCommands}}

Run '{{.CommandPath}} COMMAND --help' for more about a command.
{{- end}}
`
