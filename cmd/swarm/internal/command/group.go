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

// foreignVerbs are commands of docker, kubectl, systemctl, pm2, tmux, git and other tools, each
// with its counterpart here. One without a counterpart has an empty one, so that no command is
// suggested that only looks like it.
var foreignVerbs = map[string]string{
	"a":              "attach",
	"apply":          "up",
	"attach-session": "attach",
	"bash":           "attach",
	"bg":             "resume",
	"branch":         "help worktrees",
	"browser":        "web",
	"cancel":         "kill",
	"capture-pane":   "peek",
	"cat":            "logs",
	"cd":             "show",
	"check":          "doctor",
	"checkout":       "help worktrees",
	"cherry-pick":    "help worktrees",
	"choose-tree":    "top",
	"close":          "kill",
	"commit":         "help worktrees",
	"compose":        "up",
	"connect":        "attach",
	"continue":       "resume",
	"cp":             "",
	"create":         "spawn",
	"daemon":         "watch --print-service",
	"dashboard":      "top",
	"debug":          "doctor",
	"del":            "clean",
	"delete":         "clean",
	"deploy":         "up",
	"desc":           "show",
	"describe":       "show",
	"destroy":        "kill",
	"detach":         "attach",
	"disable":        "watch --print-service",
	"disown":         "spawn",
	"dispatch":       "spawn",
	"drain":          "down",
	"edit":           "update",
	"enable":         "watch --print-service",
	"enter":          "attach",
	"env":            "show",
	"exec":           "attach",
	"fetch":          "help worktrees",
	"fg":             "attach",
	"finish":         "complete",
	"follow":         "logs --follow",
	"freeze":         "pause",
	"get":            "ls",
	"gist":           "",
	"gui":            "top",
	"halt":           "kill",
	"has-session":    "status",
	"history":        "events",
	"htop":           "top",
	"info":           "show",
	"init":           "config init",
	"inspect":        "show",
	"is-active":      "status",
	"jlist":          "ls --json",
	"jobs":           "ls",
	"journal":        "logs",
	"journalctl":     "logs",
	"kill-all":       "kill --all",
	"kill-pane":      "kill",
	"kill-server":    "kill --all",
	"kill-session":   "kill",
	"kill-window":    "kill",
	"killall":        "kill --all",
	"land":           "help worktrees",
	"launch":         "spawn",
	"limit":          "update",
	"list":           "ls",
	"list-panes":     "ls",
	"list-sessions":  "ls",
	"list-units":     "ls",
	"list-windows":   "ls",
	"load":           "up",
	"log":            "logs",
	"mask":           "",
	"merge":          "help worktrees",
	"message":        "send",
	"monit":          "top",
	"monitor":        "top",
	"msg":            "send",
	"new":            "spawn",
	"new-session":    "spawn --tmux",
	"new-window":     "spawn --tmux",
	"nice":           "update --nice",
	"nohup":          "spawn",
	"open":           "attach",
	"output":         "logs",
	"path":           "show",
	"pipe-pane":      "logs --follow",
	"pkill":          "kill",
	"plugins":        "plugin list",
	"port":           "",
	"pr":             "help worktrees",
	"processes":      "ls",
	"prompt":         "send",
	"prune":          "clean --all",
	"ps":             "ls",
	"pull":           "help worktrees",
	"push":           "help worktrees",
	"queue":          "task",
	"reattach":       "attach",
	"rebase":         "help worktrees",
	"reboot":         "respawn",
	"redeploy":       "respawn",
	"reload":         "respawn",
	"remove":         "clean",
	"rename":         "",
	"renice":         "update --nice",
	"reset":          "help worktrees",
	"respawn-pane":   "respawn",
	"respawn-window": "respawn",
	"restart":        "respawn",
	"revert":         "help worktrees",
	"rm":             "clean",
	"rollout":        "respawn",
	"run":            "spawn",
	"scale":          "up",
	"screen":         "peek",
	"send-keys":      "send",
	"serve":          "web",
	"server":         "web",
	"service":        "watch --print-service",
	"sessions":       "ls",
	"set":            "update",
	"sh":             "attach",
	"shell":          "attach",
	"shutdown-all":   "kill --all",
	"split-window":   "spawn --tmux",
	"ssh":            "attach",
	"start":          "spawn",
	"startup":        "watch --print-service",
	"stash":          "help worktrees",
	"stop":           "kill",
	"stop-all":       "kill --all",
	"stopall":        "kill --all",
	"submit":         "spawn",
	"suspend":        "pause",
	"switch":         "attach",
	"tail":           "logs --follow",
	"terminate":      "kill",
	"thaw":           "resume",
	"tree":           "show",
	"tui":            "top",
	"type":           "send",
	"ui":             "top",
	"unpause":        "resume",
	"unstartup":      "watch --print-service",
	"validate":       "config check",
	"view":           "peek",
	"windows":        "ls",
	"workers":        "ls",
	"workspaces":     "help worktrees",
	"worktree":       "help worktrees",
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
	} else if known, ok := foreignVerbs[word]; ok {
		near = known
	}
	if near == "" {
		return ""
	}
	return cmd.CommandPath() + " " + near
}
