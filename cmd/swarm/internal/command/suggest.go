package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/shared/nearest"
)

// foreignVerbs are commands of docker, systemctl, pm2 and tmux, each with its counterpart
// here.
var foreignVerbs = map[string]string{
	"a":              "attach",
	"attach-session": "attach",
	"cancel":         "kill",
	"capture-pane":   "peek",
	"create":         "spawn",
	"del":            "clean",
	"delete":         "clean",
	"desc":           "status",
	"describe":       "status",
	"enter":          "attach",
	"exec":           "attach",
	"follow":         "logs --follow",
	"halt":           "kill",
	"has-session":    "status",
	"history":        "events",
	"info":           "status",
	"init":           "config init",
	"inspect":        "status",
	"is-active":      "status",
	"jlist":          "ls --json",
	"journal":        "logs",
	"journalctl":     "logs",
	"kill-pane":      "kill",
	"kill-server":    "kill --all",
	"kill-session":   "kill",
	"kill-window":    "kill",
	"list":           "ls",
	"list-panes":     "ls",
	"list-sessions":  "ls",
	"list-units":     "ls",
	"list-windows":   "ls",
	"log":            "logs",
	"monit":          "watch",
	"new":            "spawn",
	"new-session":    "spawn --tmux",
	"new-window":     "spawn --tmux",
	"pipe-pane":      "logs --follow",
	"plugins":        "plugin list",
	"prune":          "clean --all",
	"ps":             "ls",
	"reload":         "respawn",
	"remove":         "clean",
	"respawn-pane":   "respawn",
	"respawn-window": "respawn",
	"restart":        "respawn",
	"resume":         "ralph resume",
	"rm":             "clean",
	"run":            "spawn",
	"send-keys":      "send",
	"shell":          "attach",
	"show":           "status",
	"split-window":   "spawn --tmux",
	"start":          "spawn",
	"stats":          "ls",
	"stop":           "kill",
	"tail":           "logs --follow",
	"terminate":      "kill",
	"top":            "ls",
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

// suggestVerb returns the command below cmd that is most like an unknown word, or "".
func suggestVerb(cmd *cobra.Command, word string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
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

// Quoted returns a word as a shell takes it.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:=@%+,-", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
