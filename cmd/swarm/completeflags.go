package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/declared"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/programs"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/schema"
)

// completer adds completions to a tree of commands, beyond those that each verb defines
// itself.
type completer struct {
	*app.App
	// command is what was typed behind "--", without the word that is completed; nil:
	// there is no "--".
	command []string
}

func newCompleter(a *app.App, args []string) *completer {
	c := &completer{App: a}
	words := args[1:max(1, len(args)-1)]
	if dash := slices.Index(words, "--"); dash >= 0 {
		c.command = append([]string{}, words[dash+1:]...)
	}
	return c
}

func (c *completer) addTo(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		_, f.Usage = pflag.UnquoteUsage(f) // shells show it as it is
		if _, known := cmd.GetFlagCompletionFunc(f.Name); !known && f.Value.Type() != "bool" {
			command.CompleteFlag(cmd, f.Name, c.flag(f.Name))
		}
	})
	for _, verb := range cmd.Commands() {
		c.addTo(verb)
	}
	if cmd.HasSubCommands() || len(cmd.ValidArgs) > 0 {
		return
	}
	own := cmd.ValidArgsFunction
	switch {
	case own == nil && takesPath(cmd):
		own = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	case own == nil:
		own = cobra.NoFileCompletions
	}
	takesCommand := strings.Contains(cmd.Use, "-- COMMAND")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if takesCommand && c.command != nil {
			return c.completeCommand(prefix)
		}
		return own(cmd, args, prefix)
	}
}

func takesPath(cmd *cobra.Command) bool {
	return strings.Contains(cmd.Use, "PATH") || strings.Contains(cmd.Use, "[FILE]") || strings.Contains(cmd.Use, "SOURCE")
}

// flag returns what completes a flag of this name where a verb has nothing of its
// own: the values that there are, or nothing. Only a flag for a file completes files.
func (c *completer) flag(name string) cobra.CompletionFunc {
	switch name {
	case "backend":
		return c.offer(c.backends)
	case "workspace":
		return c.offer(c.workspaces)
	case "tag":
		return c.offer(store.Tags)
	case "session":
		return c.offer(usedValues("session"))
	case "tmux-socket":
		return c.offer(usedValues("socket"))
	case "option":
		return c.options
	case "profile":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(c.ProfileNames(), profile.None), cobra.ShellCompDirectiveNoFileComp
		}
	case "ready-wait":
		return cobra.FixedCompletions([]string{workers.ReadyStrict}, cobra.ShellCompDirectiveNoFileComp)
	case "cwd", "dir", "worktree-dir", "checkout":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case "prompt-file", "env-file", "handles":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	default:
		return cobra.NoFileCompletions
	}
}

// valuesIn returns the values that can be read in the state directory dir.
type valuesIn func(ctx context.Context, dir string) ([]string, error)

// offer completes with values. It leaves out everything that can't be read.
func (c *completer) offer(values valuesIn) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		dir, err := c.StateDir()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offers, _ := values(cmd.Context(), dir)
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}

func usedValues(option string) valuesIn {
	return func(ctx context.Context, dir string) ([]string, error) {
		return store.OptionValues(ctx, dir, option)
	}
}

// options completes an option of a backend: what its workers can have, as far as that is remembered
// of the plugin, since completion starts none; options that workers were given before; and for the
// backend ssh the hosts of the user's own settings.
func (c *completer) options(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	values, directive := c.offer(usedOptions)(cmd, args, prefix)
	if known := c.optionsOf(cmd); known != nil {
		if key, typed, ok := strings.Cut(prefix, "="); ok {
			return append(valuesOf(known, key, typed), values...), directive
		}
		var names []string
		for _, name := range known.Names() {
			names = append(names, cobra.CompletionWithDesc(name+"=", known.Properties[name].Description))
		}
		values, directive = append(names, values...), directive|cobra.ShellCompDirectiveNoSpace
	}
	if f := cmd.Flag("backend"); f == nil || f.Value.String() != "ssh" {
		return values, directive
	}
	for _, host := range sshHosts(c.Getenv("HOME")) {
		if !slices.Contains(values, "host="+host) {
			values = append(values, "host="+host)
		}
	}
	return values, directive
}

// optionsOf returns the options of the backend that a command line names, else of the default one; nil
// if they are unknown.
func (c *completer) optionsOf(cmd *cobra.Command) *schema.Schema {
	loaded, _ := c.Setup().Load(declared.BackendOfEach)
	if loaded == nil {
		return nil
	}
	name := loaded.Config.Defaults.Backend
	if f := cmd.Flag("backend"); f != nil && f.Value.String() != "" {
		name = f.Value.String()
	}
	if f := cmd.Flag("tmux"); f != nil && f.Changed {
		name = app.BackendTmux
	}
	known, err := c.Setup().Catalog(loaded.Config.Plugins)
	if err != nil {
		return nil
	}
	dir, err := c.StateDir()
	if err != nil {
		return nil
	}
	e, err := known.Find(name)
	if err != nil {
		return nil
	}
	e.Name = name
	d, _ := backend.Remembered(statedir.Dir(dir), e)
	return d.Options
}

// valuesOf returns the values that an option can have, as far as its type says: of a list, for what
// is behind the last comma.
func valuesOf(known *schema.Schema, key, typed string) (values []string) {
	p := known.Properties[key]
	if p == nil {
		return nil
	}
	before := ""
	if comma := strings.LastIndexByte(typed, ','); comma >= 0 && p.Type == schema.TypeArray {
		before = typed[:comma+1]
	}
	if p.Items != nil {
		p = p.Items
	}
	words := p.Enum
	if p.Type == schema.TypeBoolean {
		words = []string{"true", "false"}
	}
	for _, word := range words {
		values = append(values, key+"="+before+word)
	}
	return values
}

// maxSSHConfig is the largest file that is read for the names in it, in bytes.
const maxSSHConfig = 1 << 20

func sshHosts(home string) (hosts []string) {
	if !filepath.IsAbs(home) {
		return nil
	}
	data, err := safefile.ReadForeign(filepath.Join(home, ".ssh", "config"), maxSSHConfig)
	if err != nil {
		return nil // it offers nothing then
	}
	for line := range strings.Lines(string(data)) {
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '=' || r == '\n' || r == '\r' || r == '"' })
		if len(words) < 2 || !strings.EqualFold(words[0], "host") {
			continue
		}
		for _, host := range words[1:] {
			if strings.HasPrefix(host, "#") {
				break
			}
			if !strings.ContainsAny(host, "*?!") && !strings.HasPrefix(host, "-") {
				hosts = append(hosts, host)
			}
		}
	}
	return hosts
}

func usedOptions(ctx context.Context, dir string) ([]string, error) {
	var options []string
	for _, key := range []string{"host", "image", "mount", "network", "user", "workdir"} {
		values, _ := store.OptionValues(ctx, dir, key)
		for _, value := range values {
			options = append(options, key+"="+value)
		}
	}
	return options, nil
}

// stockWorkspaces are the workspace plugins that come with swarm.
var stockWorkspaces = []string{"copy", "worktree"}

// backends returns the names of the installed plugins except those that make workspaces.
func (c *completer) backends(context.Context, string) ([]string, error) {
	return c.plugins(func(name string) bool { return !slices.Contains(stockWorkspaces, name) })
}

// workspaces returns the names of the installed plugins except those that run workers.
func (c *completer) workspaces(context.Context, string) ([]string, error) {
	return c.plugins(func(name string) bool { return slices.Contains(stockWorkspaces, name) || programs.Of(name) == "" })
}

// plugins returns the names of the installed plugins that may be of a kind. Only a running plugin
// knows its kind, and completion starts none.
func (c *completer) plugins(may func(name string) bool) ([]string, error) {
	loaded, err := c.Setup().Load(declared.BackendOfEach)
	if loaded == nil {
		return nil, err
	}
	known, err := c.Setup().Catalog(loaded.Config.Plugins)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(known.Names(), func(name string) bool { return !may(name) }), nil
}

// completeCommand completes the command that a worker runs: a program of the PATH,
// then the files that it works on.
func (c *completer) completeCommand(prefix string) ([]string, cobra.ShellCompDirective) {
	if len(c.command) > 0 || strings.ContainsRune(prefix, filepath.Separator) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, dir := range filepath.SplitList(c.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // a repository's, maybe
		}
		entries, _ := safefile.ReadDir(dir) // a directory that can't be read has no programs
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) && isProgram(filepath.Join(dir, e.Name())) {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveDefault
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
