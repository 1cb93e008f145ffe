package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/catalog/index"
	"github.com/swarmhost/swarm/host/catalog/signature"
	"github.com/swarmhost/swarm/host/catalog/source"
)

func newIndex(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "index",
		Short: "Manage the indexes that plugins are installed from by name",
		Long: `An index lists plugins, their versions, and for each kind of machine the address, the hash
and the signature of a file. It is a file index.json in a git repository, in a directory, or at a
URL that ends in ".json". No index comes with swarm.

The public key of each plugin is remembered when its index is added, or when the plugin
is seen first. A key that is another one later is refused, until "swarm plugin index trust".`,
	}, newIndexAdd(a), newIndexLs(a), newIndexUpdate(a), newIndexTrust(a), newIndexRemove(a))
}

type indexJSON struct {
	Name    string   `json:"name"`
	Address string   `json:"address"`
	Updated *string  `json:"updated"`
	Plugins []string `json:"plugins"`
	// Changed are the plugins whose keys are not the trusted ones.
	Changed []keyChangeJSON `json:"changed"`
	Error   *string         `json:"error"`
}

type keyChangeJSON struct {
	Plugin string  `json:"plugin"`
	Was    *string `json:"was"`
	Now    *string `json:"now"`
}

func keyChangeJSONOf(c index.Change) keyChangeJSON {
	return keyChangeJSON{Plugin: c.Plugin, Was: output.OrNull(c.Was.String()), Now: output.OrNull(c.Now.String())}
}

func indexJSONOf(i *index.Added) indexJSON {
	return indexJSON{
		Name: i.Name, Address: i.Address, Updated: output.TimeJSON(i.Updated),
		Plugins: output.List(i.Plugins, func(p index.Plugin) string { return p.Name }),
		Changed: output.List(i.Changed, keyChangeJSONOf),
	}
}

// withIndexes runs f with the indexes of the state directory.
func withIndexes(ctx context.Context, a *app.App, f func(source.Resolver) error) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error { return f(h.Plugins().Sources) })
}

// completeIndexes offers the names of indexes.
func completeIndexes(a *app.App) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) {
		dir, err := a.StateDir()
		return index.Store{Dir: dir}.Names(), err
	}
}

func newIndexAdd(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "add NAME ADDRESS",
		Short: "Add an index",
		Long: `Add an index under a name of your choice. ADDRESS is a directory that holds index.json,
the URL of an index.json, or a git repository as "git clone" takes it (https://, ssh://,
file://, HOST:PATH or a path, also of a bare one), of which the newest commit of the
default branch is read.

The keys that the index has now are trusted and printed. Compare them with those that
the authors publish elsewhere.`,
		Example: `  swarm plugin index add acme https://example.com/plugins/index.json
  swarm plugin index add team /srv/plugins.git`,
		Args:              command.Arguments(2, 2, "NAME and ADDRESS"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndexes(cmd.Context(), a, func(r source.Resolver) error {
				i, err := r.Indexes.Add(cmd.Context(), args[0], args[1])
				switch {
				case err != nil:
					return err
				case json:
					return a.PrintJSON(indexJSONOf(i))
				}
				a.Printf("added %s: %s\n", i.Name, countPlugins(i))
				for _, p := range i.Plugins {
					a.Printf("  %s: %s\n", p.Name, keyText(p.Key))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the index as JSON")
	return cmd
}

func countPlugins(i *index.Added) string {
	if len(i.Plugins) == 1 {
		return "1 plugin"
	}
	return fmt.Sprintf("%d plugins", len(i.Plugins))
}

func keyText(k signature.Key) string {
	if k.IsZero() {
		return "not signed"
	}
	return "signed by " + k.String()
}

func newIndexLs(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:               "ls",
		Aliases:           []string{"list"},
		Short:             "List indexes",
		Long:              `List the indexes that were added, as they were at their last update.`,
		Example:           `  swarm plugin index ls`,
		Args:              command.Arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withIndexes(cmd.Context(), a, func(r source.Resolver) error {
				list, failed := []indexJSON{}, false
				var rows [][]string
				for _, name := range r.Indexes.Names() {
					i, err := r.Indexes.Get(name)
					if err != nil {
						failed = true
						list = append(list, indexJSON{Name: name, Error: output.OrNull(setup.Message(err))})
						if !json {
							a.Error(setup.Message(err))
						}
						continue
					}
					list = append(list, indexJSONOf(i))
					rows = append(rows, []string{i.Name, fmt.Sprint(len(i.Plugins)), i.Updated.Local().Format(time.DateTime), i.Address})
				}
				if !json && len(list) == 0 {
					a.Hint("no index was added: 'swarm plugin index add' adds one")
				} else if !json {
					a.PrintTable([]string{"NAME", "PLUGINS", "UPDATED", "ADDRESS"}, rows)
				}
				return a.Conclude(json, list, failed)
			})
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the indexes as JSON")
	return cmd
}

func newIndexUpdate(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "update [NAME...]",
		Short: "Read indexes again",
		Long: `Read the named indexes, or all, again from their addresses. Plugins that are new in an
index are trusted with the key that they have. A key that has changed is named, and the
exit code is 1; nothing is installed with that key.`,
		Example: `  swarm plugin index update
  swarm plugin index update acme`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: app.Offer(completeIndexes(a)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndexes(cmd.Context(), a, func(r source.Resolver) error {
				names, list, failed := args, []indexJSON{}, false
				if len(names) == 0 {
					names = r.Indexes.Names()
				}
				for _, name := range names {
					i, err := r.Indexes.Update(cmd.Context(), name)
					if err != nil {
						failed = true
						list = append(list, indexJSON{Name: name, Error: output.OrNull(setup.Message(err))})
						if !json {
							a.Error(fmt.Sprintf("index '%s': %s", name, setup.Message(err)))
						}
						continue
					}
					failed = failed || len(i.Changed) > 0
					list = append(list, indexJSONOf(i))
					if json {
						continue
					}
					a.Printf("updated %s: %s\n", i.Name, countPlugins(i))
					for _, c := range i.Changed {
						a.Warn((&source.ChangedKeyError{Index: name, Change: c}).Error(), "")
					}
					if len(i.Changed) > 0 {
						a.Hint(trustHint(name))
					}
				}
				return a.Conclude(json, list, failed)
			})
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the indexes as JSON")
	return cmd
}

// trustHint says what to do about a key that has changed.
func trustHint(name string) string {
	return fmt.Sprintf("ask the author whether the new key is theirs, then run 'swarm plugin index trust %s'", name)
}

func newIndexTrust(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "trust NAME",
		Short: "Trust the keys that an index has now",
		Long: `Trust the keys that an index had at its last update, in place of those that were trusted
before, and print the ones that changed. Ask the author of a plugin, not the index,
whether its new key is theirs.`,
		Example:           `  swarm plugin index trust acme`,
		Args:              command.Arguments(1, 1, "an index"),
		ValidArgsFunction: app.OfferOne(completeIndexes(a)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndexes(cmd.Context(), a, func(r source.Resolver) error {
				changes, err := r.Indexes.Trust(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case json:
					return a.PrintJSON(output.List(changes, keyChangeJSONOf))
				}
				for _, c := range changes {
					a.Printf("%s: %s, before: %s\n", c.Plugin, keyText(c.Now), strings.TrimPrefix(keyText(c.Was), "signed by "))
				}
				a.Printf("trusted: %s\n", args[0])
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the changes as JSON")
	return cmd
}

func newIndexRemove(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Aliases: []string{"rm"},
		Short:   "Remove an index",
		Long: `Forget an index and its trusted keys. Plugins that were installed from it stay, and can't be
upgraded any more.`,
		Example:           `  swarm plugin index remove acme`,
		Args:              command.Arguments(1, 1, "an index"),
		ValidArgsFunction: app.OfferOne(completeIndexes(a)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndexes(cmd.Context(), a, func(r source.Resolver) error {
				if err := r.Indexes.Remove(cmd.Context(), args[0]); err != nil {
					return err
				}
				if json {
					return a.PrintJSON(map[string]string{"removed": args[0]})
				}
				a.Printf("removed %s\n", args[0])
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the result as JSON")
	return cmd
}

func newSearch(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "search [WORD]",
		Short: "Search the indexes for plugins",
		Long: `List the plugins of all indexes whose names or descriptions have WORD, with the newest
release for this machine. The indexes are read as they were at their last update.`,
		Example: `  swarm plugin search
  swarm plugin search queue --json`,
		Args:              command.Arguments(0, 1, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndexes(cmd.Context(), a, func(r source.Resolver) error {
				offers, err := r.Search(strings.Join(args, ""))
				switch {
				case err != nil:
					return err
				case json:
					return a.PrintJSON(output.List(offers, offerJSONOf))
				case len(offers) == 0:
					a.Hint("no plugin found")
					return nil
				}
				rows := output.List(offers, func(o source.Offer) []string {
					j := offerJSONOf(o)
					return []string{o.Origin(), output.OrDash(output.ValueOr(j.Version, "")), output.OrDash(o.Kind), output.OrDash(o.Description)}
				})
				a.PrintTable([]string{"NAME", "VERSION", "KIND", "DESCRIPTION"}, rows)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the plugins as JSON")
	return cmd
}

type offerJSON struct {
	Name        string `json:"name"`
	Index       string `json:"index"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	// Version is the newest release for this machine; null if there is none.
	Version  *string  `json:"version"`
	Versions []string `json:"versions"`
	Key      *string  `json:"key"`
}

func offerJSONOf(o source.Offer) offerJSON {
	j := offerJSON{
		Name: o.Name, Index: o.Index, Kind: o.Kind, Description: o.Description, Key: output.OrNull(o.Key.String()),
		Versions: output.List(o.Versions, func(v index.Version) string { return v.Version }),
	}
	if v := o.Newest(""); v != nil {
		j.Version = &v.Version
	}
	return j
}
