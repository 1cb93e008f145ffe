package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/nearest"
)

// NewGroup makes a command that only has verbs below it.
func NewGroup(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	var names []string
	for _, verb := range verbs {
		if !verb.Hidden {
			names = append(names, verb.Name())
		}
		verb.DisableFlagsInUseLine = true
		cmd.AddCommand(verb)
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return output.Usagef("missing command: one of %s", strings.Join(names, ", "))
		}
		return UnknownVerb(cmd, args)
	}
	return cmd
}

// UnknownVerb is the error for a word that names no command below cmd. Without a
// word, it shows the help.
func UnknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return &output.UsageError{
		Text: fmt.Sprintf("unknown command '%s'", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "swarm ")),
		Hint: output.DidYouMean(suggestVerb(cmd, args[0]), fmt.Sprintf("run '%s --help' for usage", cmd.CommandPath())),
	}
}

// foreignVerbs are commands of docker, kubectl, systemctl, pm2, tmux, git and other tools, by
// their counterparts here. Those without a counterpart have an empty one, so that no command is
// suggested that only looks like it.
var foreignVerbs = map[string][]string{
	"": {"gist", "mask", "port", "rename"},
	"attach": {
		"a", "attach-session", "connect", "detach", "fg", "open", "reattach", "ssh", "switch",
	},
	"clean":        {"del", "delete", "remove", "rm"},
	"clean --all":  {"prune"},
	"complete":     {"finish"},
	"config check": {"validate"},
	"config init":  {"init"},
	"cp":           {"copy", "download", "scp", "upload"},
	"doctor":       {"check", "debug"},
	"exec":         {"bash", "enter", "sh", "shell"},
	"forward":      {"expose", "port-forward", "publish", "tunnel"},
	"down":         {"drain"},
	"events":       {"history"},
	"help worktrees": {
		"branch", "checkout", "cherry-pick", "commit", "fetch", "land", "merge", "pr", "pull",
		"push", "rebase", "reset", "revert", "stash", "workspaces", "worktree",
	},
	"kill": {
		"cancel", "close", "destroy", "halt", "kill-pane", "kill-session", "kill-window", "pkill",
		"stop", "terminate",
	},
	"kill --all":    {"kill-all", "kill-server", "killall", "shutdown-all", "stop-all", "stopall"},
	"logs":          {"cat", "journal", "journalctl", "log", "output"},
	"logs --follow": {"follow", "pipe-pane", "tail"},
	"ls": {
		"get", "jobs", "list", "list-panes", "list-sessions", "list-units", "list-windows",
		"processes", "ps", "sessions", "windows", "workers",
	},
	"ls --json":   {"jlist"},
	"pause":       {"freeze", "suspend"},
	"peek":        {"capture-pane", "screen", "view"},
	"plugin list": {"plugins"},
	"resize":      {"refresh-client", "resize-pane", "resize-window"},
	"respawn": {
		"reboot", "redeploy", "reload", "respawn-pane", "respawn-window", "restart", "rollout",
	},
	"resume":                {"bg", "continue", "thaw", "unpause"},
	"send":                  {"message", "msg", "prompt", "send-keys", "type"},
	"show":                  {"cd", "desc", "describe", "env", "info", "inspect", "path", "tree"},
	"spawn":                 {"create", "disown", "dispatch", "launch", "new", "nohup", "run", "start", "submit"},
	"spawn --tmux":          {"new-session", "new-window", "split-window"},
	"status":                {"has-session", "is-active"},
	"task":                  {"queue"},
	"top":                   {"choose-tree", "dashboard", "gui", "htop", "monit", "monitor", "tui", "ui"},
	"up":                    {"apply", "compose", "deploy", "load", "scale"},
	"update":                {"edit", "limit", "set"},
	"update --nice":         {"nice", "renice"},
	"watch --print-service": {"daemon", "disable", "enable", "service", "startup", "unstartup"},
	"web":                   {"browser", "serve", "server"},
}

// foreignSubverbs are the same for verbs below a group of commands. The first name that the
// group has is suggested.
var foreignSubverbs = map[string][]string{
	"add":       {"create", "spawn", "install", "send"},
	"complete":  {"update"},
	"create":    {"spawn", "new", "init"},
	"del":       {"delete", "remove", "clean", "kill"},
	"delete":    {"remove", "clean", "kill"},
	"describe":  {"show", "info", "status"},
	"done":      {"update"},
	"edit":      {"update", "init"},
	"get":       {"show", "info", "status", "read"},
	"info":      {"show", "status"},
	"inspect":   {"show", "info", "status"},
	"kill":      {"stop", "delete"},
	"list":      {"ls", "read"},
	"new":       {"create", "spawn", "init"},
	"remove":    {"delete", "clean", "kill"},
	"rm":        {"delete", "remove", "clean", "kill"},
	"run":       {"spawn", "call"},
	"set":       {"update"},
	"show":      {"info", "status", "read"},
	"start":     {"spawn", "resume", "create"},
	"stop":      {"kill", "pause", "delete"},
	"uninstall": {"remove"},
	"validate":  {"check"},
	"write":     {"send", "init"},
}

func suggestVerb(cmd *cobra.Command, word string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
			names = append(names, sub.Aliases...)
		}
	}
	near := nearest.Name(word, names)
	if cmd.HasParent() {
		own := func(name string) bool { return slices.Contains(names, name) }
		if i := slices.IndexFunc(foreignSubverbs[word], own); i >= 0 {
			near = foreignSubverbs[word][i]
		}
	} else {
		for verb, foreign := range foreignVerbs {
			if slices.Contains(foreign, word) {
				near = verb
			}
		}
	}
	if near == "" {
		return ""
	}
	return cmd.CommandPath() + " " + near
}
