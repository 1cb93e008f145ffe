package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// A command is a command of swarm as its help shows it.
type command struct {
	words []string
	short string
	help  string
	// groups are the commands below it.
	groups []group
}

// A group is a list of commands with a title in the help.
type group struct {
	title    string
	commands []command
}

func (c command) path() string { return strings.Join(append([]string{"swarm"}, c.words...), " ") }

// below returns the commands below c.
func (c command) below() []command {
	var all []command
	for _, g := range c.groups {
		all = append(all, g.commands...)
	}
	return all
}

// A reader asks the program swarm for its help, with home as its home directory.
type reader struct{ swarm, home string }

// read returns the command that words name, with all below it.
func (r reader) read(ctx context.Context, words []string) (command, error) {
	c := command{words: words}
	run := exec.CommandContext(ctx, r.swarm, append(slices.Clip(words), "--help")...)
	run.Env = []string{"HOME=" + r.home, "SWARM_DIR=" + r.home, "NO_COLOR=1"}
	out, err := run.Output()
	if err != nil {
		return c, fmt.Errorf("%s --help: %w", c.path(), err)
	}
	c.help = string(out)
	for _, g := range listed(c.help) {
		for i, sub := range g.commands {
			read, err := r.read(ctx, append(slices.Clip(words), sub.words...))
			if err != nil {
				return c, err
			}
			read.short = sub.short
			g.commands[i] = read
		}
		c.groups = append(c.groups, g)
	}
	return c, nil
}

var (
	title = regexp.MustCompile(`^([A-Z].*):$`)
	entry = regexp.MustCompile(`^  ([a-z][a-z-]*) +([A-Z].*)$`)
)

// listed returns the commands that a help text lists.
func listed(help string) []group {
	if !strings.Contains(help, " COMMAND --help' for more about a command.") {
		return nil
	}
	_, help, _ = strings.Cut(help, "\nUsage:\n")
	var all []group
	var name string
	for line := range strings.Lines(help) {
		line = strings.TrimSuffix(line, "\n")
		if match := title.FindStringSubmatch(line); match != nil {
			name = match[1]
			continue
		}
		match := entry.FindStringSubmatch(line)
		if match == nil || name == "Examples" || name == "Flags" {
			continue
		}
		if len(all) == 0 || all[len(all)-1].title != name {
			all = append(all, group{title: name})
		}
		last := &all[len(all)-1]
		last.commands = append(last.commands, command{words: []string{match[1]}, short: match[2]})
	}
	return all
}
