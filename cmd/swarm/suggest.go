package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/team"
)

// foreignVerbs are what users of docker, systemctl, pm2 and tmux type, each with the
// command that does it here.
var foreignVerbs = map[string]string{
	"cancel":         "kill",
	"capture-pane":   "peek",
	"create":         "spawn",
	"delete":         "clean",
	"describe":       "status",
	"exec":           "attach",
	"follow":         "logs --follow",
	"halt":           "kill",
	"history":        "events",
	"info":           "status",
	"init":           "config init",
	"inspect":        "status",
	"is-active":      "status",
	"journal":        "logs",
	"kill-session":   "kill",
	"kill-window":    "kill",
	"list":           "ls",
	"list-sessions":  "ls",
	"list-units":     "ls",
	"list-windows":   "ls",
	"log":            "logs",
	"monit":          "watch",
	"new":            "spawn",
	"new-session":    "spawn --tmux",
	"new-window":     "spawn --tmux",
	"plugins":        "plugin list",
	"prune":          "clean --all",
	"ps":             "ls",
	"reload":         "respawn",
	"remove":         "clean",
	"restart":        "respawn",
	"resume":         "ralph resume",
	"rm":             "clean",
	"run":            "spawn",
	"send-keys":      "send",
	"show":           "status",
	"start":          "spawn",
	"stats":          "ls",
	"stop":           "kill",
	"tail":           "logs --follow",
	"terminate":      "kill",
	"top":            "ls",
	"attach-session": "attach",
}

// suggestVerb returns the command that was probably meant by a word which names
// none below cmd, or "".
func suggestVerb(cmd *cobra.Command, word string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
			names = append(names, sub.Aliases...)
		}
	}
	near := config.Nearest(word, names)
	if cmd.HasParent() {
		// What the word means at the top is a guess below it.
		if near == "" && hasVerb(cmd, foreignVerbs[word]) {
			near = foreignVerbs[word]
		}
	} else if known, ok := foreignVerbs[word]; ok {
		near = known
	}
	if near == "" {
		return ""
	}
	return cmd.CommandPath() + " " + near
}

// hasVerb reports whether a command has one of exactly that name below it.
func hasVerb(cmd *cobra.Command, name string) bool {
	for _, sub := range cmd.Commands() {
		if name != "" && sub.Name() == name {
			return true
		}
	}
	return false
}

// suggestName returns the existing name that was probably meant by the one that err
// could not find, or "". It starts no plugin.
func (a *app) suggestName(err error) string {
	if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok {
		return config.Nearest(missing.Name, missing.Known)
	}
	dir, dirErr := a.stateDir()
	if dirErr != nil {
		return ""
	}
	ctx := context.Background()
	if missing, ok := errors.AsType[*host.NotFoundError](err); ok {
		if workers, _ := host.AgentWorkers(ctx, dir, missing.Name); len(workers) > 0 {
			return strings.Join(workers, "' or '")
		}
		names, _ := host.Names(ctx, dir)
		return config.Nearest(missing.Name, names)
	}
	if missing, ok := errors.AsType[*team.NoTeamError](err); ok {
		return config.Nearest(missing.Team, a.teamNames(ctx))
	}
	if missing, ok := errors.AsType[*team.NoAgentError](err); ok {
		teams := []string{missing.InTeam}
		if missing.InTeam == "" {
			teams = a.teamNames(ctx)
		}
		var names []string
		for _, name := range teams {
			names = append(names, a.agentNames(ctx, name)...)
		}
		return config.Nearest(missing.Agent, names)
	}
	return ""
}

// quoted returns a word as a shell takes it.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:=@%+,-", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
