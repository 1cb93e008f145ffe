package config

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// maxFile bounds what is read of a config file to find a key.
const maxFile = 1 << 20

// settingProblems returns the mistakes in the commands and settings of plugins. A plugin alone knows its
// settings, so it is started with them, and nothing else is asked of it. Plugins for which use
// returns false are left out: an untrusted file must not have anything started.
func settingProblems(ctx context.Context, a *app.App, loaded *config.Loaded, use func(config.Plugin) bool) []error {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(loaded.Config.Plugins)) {
		if p := loaded.Config.Plugins[name]; (len(p.Config) > 0 || len(p.Command) > 0) && use(p) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	var problems []error
	err := a.With(ctx, loaded.Config, func(h *host.Host) error {
		for _, name := range names {
			d, err := h.Plugins().Show(ctx, name)
			switch err = cmp.Or(err, d.Err); {
			case err == nil:
			case errors.Is(err, swarm.ErrInvalidConfig):
				problems = append(problems, problemsOf(name, setup.Message(err), loaded)...)
			case d.Kind == "": // without the plugin its settings can't be judged
				problems = append(problems, startProblem(name, setup.Message(err), loaded))
			}
		}
		return ctx.Err()
	})
	if err != nil {
		problems = append(problems, err)
	}
	return problems
}

// startProblem returns the problem of a plugin that can't be started as its table says.
func startProblem(name, text string, loaded *config.Loaded) error {
	key := "plugins." + name
	for _, k := range []string{key + ".command", key + ".version", key + ".config", key} {
		if at, ok := loaded.Origins[k]; ok {
			return config.Problem{At: at, Key: k, Text: text}
		}
	}
	return config.Problem{Key: key, Text: text}
}

// quoted is a key as plugins quote it in their errors.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// problemsOf returns the problems that the error of a plugin names, each at the key that it quotes
// first.
func problemsOf(name, text string, loaded *config.Loaded) []error {
	key := "plugins." + name + ".config"
	at := loaded.Origins[key]
	if _, said, ok := strings.Cut(text, "invalid config: "); ok {
		text = said
	}
	var problems []error
	for part := range strings.SplitSeq(text, "; ") {
		p := config.Problem{At: at, Key: key, Text: part}
		if found := quoted.FindStringSubmatch(part); found != nil {
			p.Key = key + "." + found[1]
			p.At = positionOf(at, name, found[1])
		}
		problems = append(problems, p)
	}
	return problems
}

// positionOf returns where a key of the settings of a plugin is set: the first line from at on
// that sets its last part, or at itself if none does.
func positionOf(at config.Position, name, key string) config.Position {
	text, err := safefile.ReadForeign(at.File, maxFile)
	if err != nil || at.Line < 1 {
		return at
	}
	parts := strings.Split(key, ".")
	last, _, _ := strings.Cut(parts[len(parts)-1], "[")
	sets := regexp.MustCompile(`(?:^|[\s{,.])["']?` + regexp.QuoteMeta(last) + `["']?\s*=`)
	for i, line := range strings.Split(string(text), "\n") {
		if i+1 < at.Line {
			continue
		}
		table := strings.TrimSpace(line)
		if i+1 > at.Line && strings.HasPrefix(table, "[") && !strings.Contains(table, name) {
			break // another table begins
		}
		if found := sets.FindStringIndex(line); found != nil {
			column := found[0] + 1
			if found[0] > 0 || strings.ContainsAny(line[:1], " \t{,.") {
				column++
			}
			return config.Position{File: at.File, Line: i + 1, Column: column}
		}
	}
	return at
}
