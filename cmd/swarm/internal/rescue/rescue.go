package rescue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// New returns the group of verbs.
func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "rescue",
		Short: "List, restore and drop the work saved from removed worktrees",
		Long: `List, restore and drop the work that was saved from removed worktrees. Before swarm
removes a worktree with --force-dirty, it saves the uncommitted changes, the untracked
files and the index as commits below refs/swarm/rescue in the repository, with an archive
of what git can't hold and the permissions of the saved files. They stay there until
'swarm rescue drop', also when the worker was cleaned.

A difference that git does not count as a change is not saved by itself: other
permissions of an unchanged file (also the right to run it, with core.fileMode=false),
access lists and extended attributes.

A verb takes the name of a worker, which means its newest saved work, or a name from
'swarm rescue ls'. It looks in the repositories of all workers, in those from which
work was saved, and in that of the current directory.`,
		Example: `  swarm rescue ls
  swarm rescue show fix
  swarm rescue restore fix
  swarm rescue drop fix --force`,
	}, newLs(a), newShow(a), newRestore(a), newDrop(a))
}

// workJSON is saved work as docs/rescue.schema.json describes it. Fields are only ever added.
type workJSON struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Ref   string          `json:"ref"`
	Base  string          `json:"base_repo"`
	Time  *string         `json:"time"`
	Title string          `json:"title"`
	Files []view.FileJSON `json:"files"`
	Path  *string         `json:"path"`
	Note  *string         `json:"note"`
	// Host is set for work on another machine.
	Host string `json:"host,omitempty"`
}

func workJSONOf(w swarm.SavedWork) workJSON {
	j := workJSON{
		ID: saved.ID(w), Name: w.Name, Ref: w.Ref, Base: w.Base, Time: output.TimeJSON(w.Time), Title: w.Title,
		Path: output.OrNull(w.Path), Note: output.OrNull(w.Note), Host: w.Host,
	}
	if w.Files != nil {
		j.Files = view.FilesJSON(w.Files)
	}
	return j
}

func here() []string {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	return []string{dir}
}

// complete offers the names of saved work. It starts the plugin, since only the
// repositories know.
func complete(a *app.App) cobra.CompletionFunc {
	return app.OfferOne(func(ctx context.Context) (names []string, _ error) {
		_ = a.WithHost(ctx, func(h *host.Host) error {
			works, _, err := h.Saved().List(ctx, here()...)
			for _, w := range works {
				names = append(names, saved.ID(w))
			}
			return err
		})
		return names, nil
	})
}

func newLs(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the saved work",
		Long: `List the saved work, the oldest first, with the age and the repository. The files that it
holds are shown by 'swarm rescue show'. docs/rescue.schema.json describes the objects
that the verbs of rescue print with --json.`,
		Example:           "  swarm rescue ls\n  swarm rescue ls --json | jq -r '.[].ref'",
		Args:              command.Arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithHost(cmd.Context(), func(h *host.Host) error { return runLs(cmd.Context(), a, h, json) })
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the list as JSON")
	return cmd
}

func runLs(ctx context.Context, a *app.App, h *host.Host, json bool) error {
	works, warnings, err := h.Saved().List(ctx, here()...)
	if err != nil {
		return err
	}
	a.WarnAll(warnings)
	if json {
		return a.PrintJSON(output.List(works, workJSONOf))
	}
	a.PrintTable([]string{"NAME", "AGE", "WHAT", "REPOSITORY"}, output.List(works, func(w swarm.SavedWork) []string {
		return []string{saved.ID(w), age(w, time.Now()), w.Title, swarm.OnHost(w.Host, w.Base)}
	}))
	if len(works) == 0 {
		a.Hint("no saved work")
	}
	return nil
}

func age(w swarm.SavedWork, now time.Time) string {
	if w.Time.IsZero() {
		return "-"
	}
	return humane.Age(now.Sub(w.Time))
}

func one(a *app.App, cmd *cobra.Command, act func(context.Context, *host.Host, string) (swarm.SavedWork, error), print func(swarm.SavedWork)) *cobra.Command {
	var json bool
	cmd.Args = command.Arguments(1, 1, "name of saved work")
	cmd.ValidArgsFunction = complete(a)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		output.FinishWriting()
		return a.WithHost(cmd.Context(), func(h *host.Host) error {
			w, err := act(cmd.Context(), h, args[0])
			switch {
			case err != nil:
				return err
			case json:
				return a.PrintJSON(workJSONOf(w))
			}
			print(w)
			return nil
		})
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the saved work as JSON")
	return cmd
}

func newShow(a *app.App) *cobra.Command {
	return one(a, &cobra.Command{
		Use:     "show NAME",
		Short:   "Show what saved work holds",
		Long:    `Show when work was saved, where it is, and which files differ from the last commit.`,
		Example: "  swarm rescue show fix\n  swarm rescue show fix --json | jq -r '.files[].path'",
	}, func(ctx context.Context, h *host.Host, name string) (swarm.SavedWork, error) {
		w, err := h.Saved().Find(ctx, name, false, here()...)
		if err == nil {
			w, err = h.Saved().Show(ctx, w)
		}
		if w.Files == nil {
			w.Files = []swarm.FileChange{} // it holds none, which is known
		}
		return w, err
	}, func(w swarm.SavedWork) {
		a.Printf("%s: %s, saved %s ago\n", saved.ID(w), w.Title, age(w, time.Now()))
		a.Printf("  %s in %s\n", w.Ref, swarm.OnHost(w.Host, w.Base))
		a.PrintTable(nil, view.FileRows(w.Files))
		a.Hint(fmt.Sprintf("'swarm rescue restore %s' brings it back", saved.ID(w)))
	})
}

func newRestore(a *app.App) *cobra.Command {
	var into string
	cmd := one(a, &cobra.Command{
		Use:   "restore NAME",
		Short: "Restore saved work in a new worktree",
		Long: `Restore saved work in a new worktree, with the files, the index and HEAD of the moment it
was saved. The branch is checked out if it has not moved since then and no other
worktree uses it; otherwise HEAD is detached. The worktree is yours: no worker owns it.

Nothing is overwritten: the directory must be new or empty. The saved work stays until
'swarm rescue drop'.`,
		Example: "  swarm rescue restore fix\n  swarm rescue restore fix --into ../fix-again",
	}, func(ctx context.Context, h *host.Host, name string) (swarm.SavedWork, error) {
		dir := into
		if into != "" {
			var err error
			if dir, err = app.WorkingDir(into); err != nil {
				return swarm.SavedWork{}, err
			}
		}
		w, err := h.Saved().Find(ctx, name, false, here()...)
		if err == nil && w.Host != "" && into != "" && !filepath.IsAbs(into) {
			err = output.Usagef("%s is on %s: --into has to be an absolute path there", saved.ID(w), w.Host)
		}
		if err == nil {
			w, err = h.Saved().Restore(ctx, w, dir)
		}
		if errors.Is(err, swarm.ErrInvalidSpec) && into == "" {
			err = output.WithHint(err, "use --into to restore it elsewhere")
		}
		return w, err
	}, func(w swarm.SavedWork) {
		a.Printf("restored %s in %s\n", saved.ID(w), swarm.OnHost(w.Host, w.Path))
		a.Hint(w.Note)
	})
	cmd.Flags().StringVar(&into, "into", "", "the `DIR` to restore into (default: where the worker of that name would work)")
	_ = cmd.MarkFlagDirname("into")
	return cmd
}

func newDrop(a *app.App) *cobra.Command {
	var force bool
	cmd := one(a, &cobra.Command{
		Use:   "drop NAME",
		Short: "Delete saved work",
		Long: `Delete saved work for good. Without --force, the work is named and nothing is deleted. If
there are several pieces of saved work of a worker, the name has to say which.`,
		Example: "  swarm rescue drop fix --force",
	}, func(ctx context.Context, h *host.Host, name string) (swarm.SavedWork, error) {
		w, err := h.Saved().Find(ctx, name, true, here()...)
		if err == nil && !force {
			err = output.WithHint(fmt.Errorf("dropping %s (%s, saved %s ago) deletes it for good", saved.ID(w), w.Title, age(w, time.Now())),
				"use --force to delete it")
		}
		if err == nil {
			w, err = h.Saved().Drop(ctx, w)
		}
		return w, err
	}, func(w swarm.SavedWork) { a.Printf("dropped %s\n", saved.ID(w)) })
	cmd.Flags().BoolVar(&force, "force", false, "delete it")
	return cmd
}
