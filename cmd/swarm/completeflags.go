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
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/safefile"
)

func isCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

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
	return strings.Contains(cmd.Use, "PATH") || strings.Contains(cmd.Use, "[FILE]")
}

// flag returns what completes a flag of this name where a verb has nothing of its
// own: the values that there are, or nothing. Only a flag for a file completes files.
func (c *completer) flag(name string) cobra.CompletionFunc {
	switch name {
	case "backend":
		return c.offer(c.backends)
	case "tag":
		return c.offer(func(ctx context.Context, dir string) []string {
			tags, _ := store.Tags(ctx, dir)
			return tags
		})
	case "session":
		return c.offer(func(ctx context.Context, dir string) []string {
			sessions, _ := store.OptionValues(ctx, dir, "session")
			return sessions
		})
	case "tmux-socket":
		return c.offer(func(ctx context.Context, dir string) []string {
			sockets, _ := store.OptionValues(ctx, dir, "socket")
			return sockets
		})
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

// offer completes with the values that values returns for the state directory. It leaves
// out everything that can't be read.
func (c *completer) offer(values func(ctx context.Context, dir string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		dir, err := c.StateDir()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values(cmd.Context(), dir), cobra.ShellCompDirectiveNoFileComp
	}
}

func usedOptions(ctx context.Context, dir string) []string {
	var options []string
	for _, key := range []string{"host", "image", "mount", "network", "user", "workdir"} {
		values, _ := store.OptionValues(ctx, dir, key)
		for _, value := range values {
			options = append(options, key+"="+value)
		}
	}
	return options
}

// backends returns the names of the installed plugins except the one that makes worktrees.
// Only a running plugin could tell its kind, and completion starts none.
func (c *completer) backends(context.Context, string) []string {
	loaded, _ := c.Setup().Load(declared.BackendOfEach)
	if loaded == nil {
		return nil
	}
	known, err := c.Setup().Catalog(loaded.Config.Plugins)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(known.Names(), func(name string) bool { return name == app.WorkspaceWorktree })
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
