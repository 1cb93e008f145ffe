package main

import (
	"os/exec"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest"
)

// script returns what turns a script of the kit into a command; nil: the kit's own
// way, a POSIX shell. Of the words that were given {name} is the name of the script
// and {shell} is its text for a shell.
func (o *options) script() func(plugintest.Script) []string {
	words := strings.Fields(o.command)
	if len(words) == 0 {
		return nil
	}
	return func(s plugintest.Script) []string {
		text := plugintest.Shell(s)
		if s == plugintest.Missing {
			return text
		}
		command := make([]string, len(words))
		for i, word := range words {
			word = strings.ReplaceAll(word, "{name}", string(s))
			command[i] = strings.ReplaceAll(word, "{shell}", text[len(text)-1])
		}
		return command
	}
}

// gitBase makes a repository with one commit.
const gitBase = `git init -q . && git -c user.name=swarm -c user.email=swarm@example.com commit -q --allow-empty -m base`

// shellBase makes a base for workspaces with a command that runs in an empty
// directory.
func shellBase(command string) func(plugintest.T) string {
	return func(t plugintest.T) string {
		// Workspaces are made beside their base.
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "mkdir base && cd base && "+command)
		cmd.Dir = t.TempDir()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make a base: %v: %s", err, out)
		}
		return cmd.Dir + "/base"
	}
}
