package config

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/schema"
	"github.com/swarmhost/swarm/shared/swarm"
)

// settingProblems returns the mistakes in the commands and settings of plugins: those that what a
// plugin announces of its settings shows, else those that it finds itself, which is started with them
// for that. Plugins for which use returns false are left out: an untrusted file must not have
// anything started.
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
	var problems config.Problems
	err := a.With(ctx, loaded.Config, func(h *host.Host) error {
		for _, name := range names {
			known, err := h.Plugins().Describe(ctx, name)
			if err == nil && known.Settings != nil {
				if wrong := wrongSettings(name, known.Settings, loaded); len(wrong) > 0 {
					problems = append(problems, wrong...)
					continue
				}
			}
			d, err := h.Plugins().Show(ctx, name)
			switch err = cmp.Or(err, d.Err); {
			case err == nil:
			case errors.Is(err, swarm.ErrInvalidConfig):
				problems = append(problems, refused(name, setup.Message(err), known.Settings, loaded)...)
			case d.Kind == "": // without the plugin its settings can't be judged
				problems = append(problems, startProblem(name, setup.Message(err), loaded))
			}
		}
		return ctx.Err()
	})
	slices.SortStableFunc(problems, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	var all []error
	for _, p := range loaded.Conceal(problems) {
		all = append(all, p)
	}
	if err != nil {
		all = append(all, err)
	}
	return all
}

// wrongSettings returns the settings that do not fit what the plugin announces.
func wrongSettings(name string, s *schema.Schema, loaded *config.Loaded) (problems config.Problems) {
	for _, p := range s.Check(loaded.Config.Plugins[name].Config) {
		key, at := loaded.Inside(config.SettingsKey(name), p.Key)
		problems = append(problems, config.Problem{At: at, Key: key, Text: p.Error()})
	}
	return problems
}

// startProblem returns the problem of a plugin that can't be started as its table says.
func startProblem(name, text string, loaded *config.Loaded) config.Problem {
	key := "plugins." + name
	for _, k := range []string{key + ".command", key + ".version", key + ".config", key} {
		if at, ok := loaded.Origins[k]; ok {
			return config.Problem{At: at, Key: k, Text: text}
		}
	}
	return config.Problem{Key: key, Text: text}
}

// refused returns the problems that a plugin finds in settings that fit what it announces. A text of
// the form "KEY: …" is about that setting.
func refused(name, text string, s *schema.Schema, loaded *config.Loaded) (problems config.Problems) {
	if _, said, ok := strings.Cut(text, "invalid config: "); ok {
		text = said
	}
	for part := range strings.SplitSeq(text, "; ") {
		part = strings.TrimPrefix(part, swarm.ErrInvalidConfig.Error()+": ")
		setting := ""
		if before, rest, ok := strings.Cut(part, ": "); ok && s != nil && s.At(before) != nil {
			setting, part = before, rest
		}
		key, at := loaded.Inside(config.SettingsKey(name), setting)
		problems = append(problems, config.Problem{At: at, Key: key, Text: part})
	}
	return problems
}

// announced returns the schemas of the settings of all plugins that can be found, by their names.
func announced(ctx context.Context, a *app.App, loaded *config.Loaded) (map[string]*schema.Schema, error) {
	known, err := a.Setup().Catalog(loaded.Config.Plugins)
	if err != nil {
		return nil, err
	}
	all := map[string]*schema.Schema{}
	err = a.With(ctx, loaded.Config, func(h *host.Host) error {
		for _, name := range known.Names() {
			d, err := h.Plugins().Describe(ctx, name)
			switch {
			case err != nil:
				a.Warn("the settings of the plugin '"+name+"' are not in the schema: "+setup.Message(err), "")
			case d.Settings != nil:
				all[name] = d.Settings
			}
		}
		return ctx.Err()
	})
	return all, err
}

// redact replaces the secret settings of plugins. Nothing is shown of those of a plugin that can't be
// asked which they are; those of a plugin that announces nothing are shown.
func redact(ctx context.Context, a *app.App, loaded *config.Loaded) error {
	given := func(p config.Plugin) bool { return len(p.Config) > 0 }
	if !slices.ContainsFunc(slices.Collect(maps.Values(loaded.Config.Plugins)), given) {
		return nil
	}
	return a.With(ctx, loaded.Config, func(h *host.Host) error {
		for name, p := range loaded.Config.Plugins {
			if !given(p) {
				continue
			}
			hide := schema.HideAll
			if d, err := h.Plugins().Describe(ctx, name); err == nil {
				hide = d.Settings.Redact
			}
			p.Config, _ = hide(p.Config).(map[string]any)
			loaded.Config.Plugins[name] = p
		}
		return ctx.Err()
	})
}
